#!/usr/bin/env bash
# usage: tools/install.sh [--check | --only NEED]
#
# Installs what the tests need and this machine lacks, or NEED of the list below alone. --check
# installs nothing, says what is missing, and has status 1 then.
#
# The tests start their own servers on free ports. Their programs come from
# Debian's or Ubuntu's packages, but no service is started by the installation, none
# is enabled for the next boot, and no package that is there is upgraded or removed.
set -euo pipefail
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin # dpkg needs them, and mariadbd is in one

# needs looks for each need: NAME PACKAGES WHAT... [VARIABLE...]. A need is met if each WHAT is there, or if a
# VARIABLE is set. A WHAT is a program, a file, or several with a | between them, of which one is enough. Names of
# a package in different releases have a slash between them, best first; NAME-* ends in a version. Galera and
# Patroni are for the tests of clusters only. internal/testserver/engine.go looks for programs in the same places.
needs() {
  missing=() packages=()
  local folder
  for folder in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin {/opt/homebrew,/usr/local}/opt/postgresql@*/bin; do PATH=$PATH:$folder; done
  # Where crypto/x509 looks for the certificates of public authorities, so that go can download modules.
  [ "$(uname -s)" != Linux ] ||
    need certificates ca-certificates '/etc/ssl/certs/ca-certificates.crt|/etc/pki/tls/certs/ca-bundle.crt|/etc/ssl/ca-bundle.pem|/etc/ssl/cert.pem' SSL_CERT_FILE
  need compiler 'gcc libc6-dev' gcc '/usr/include/stdlib.h|/Library/Developer' CC # for go test -race
  need postgres postgresql postgres initdb SNOWKEY_TEST_POSTGRES{,_BIN}
  need pgbouncer pgbouncer pgbouncer SNOWKEY_TEST_PGBOUNCER_BIN
  need mariadb 'mariadb-server-core/mariadb-server-core-* mariadb-client-core/mariadb-client-core-*' \
    mariadb-install-db mariadbd SNOWKEY_TEST_MYSQL{,_BIN} SNOWKEY_TEST_MARIADB_BIN # the former calls a program of the client
  need redis redis-server redis-server SNOWKEY_TEST_REDIS{,_BIN}
  need etcd 'etcd-server/etcd etcd-client/etcd' etcd etcdctl SNOWKEY_TEST_ETCD{,_BIN}
  need prometheus prometheus promtool SNOWKEY_TEST_PROMETHEUS_BIN # checks the alert rules
  need spin spin spin                                             # checks the model of the leases
  need npm npm npm                                                # installs TypeScript and the linter of Markdown
  [ "$(uname -m)" = aarch64 ] || need arm64 qemu-user-static qemu-aarch64-static
  # A snap's, as Ubuntu has it, sees no folder of the tests: ./test.sh --no-browser does without one.
  need chromium chromium-headless-shell/chromium \
    'chromium-headless-shell|chromium|google-chrome|google-chrome-stable|chrome|/Applications/Google Chrome.app' SNOWKEY_TEST_CHROMIUM
  [ -n "$only" ] || return 0
  need galera 'mariadb-server galera-4/galera-3 rsync' mariadbd wsrep_sst_rsync rsync
  need patroni 'patroni python3-etcd python3-psycopg2 postgresql etcd-server/etcd' patroni etcd pg_rewind pg_basebackup
}

need() {
  local name=$1 needed=$2 what path alternatives
  [ "${only:-$name}" = "$name" ] || return 0
  known=yes
  for what in "${@:3}"; do
    if [[ $what =~ ^[A-Z_]+$ ]]; then continue; fi
    IFS='|' read -ra alternatives <<<"$what"
    for path in "${alternatives[@]}"; do
      if [[ $path == /* && -e $path ]]; then continue 2; fi
      if path=$(type -P "$path") && [[ $(readlink -f "$path") != @(/snap/*|*/bin/snap) ]]; then continue 2; fi
    done
    for what in "${@:3}"; do
      if [[ $what =~ ^[A-Z_]+$ && -n ${!what:-} ]]; then return; fi
    done
    missing+=("$name: ${*:3}")
    read -ra alternatives <<<"$needed"
    packages+=("${alternatives[@]}")
    return
  done
}

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# package NAME/NAME...: the first that apt can install in this release.
package() {
  local name
  for name in ${1//\// }; do
    [[ $name != *-\* ]] || name=$(apt-cache pkgnames "${name%\*}" | grep -E "^${name%\*}[0-9.]+$" | sort -V | tail -n 1) || continue
    [[ $(LC_ALL=C apt-cache policy "$name" 2>/dev/null) == *'Candidate: '[!\(]* ]] && echo "$name" && return # not "(none)"
  done
  return 1
}

as_root() {
  local vars=(DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 "PATH=$PATH") v sudo=(sudo -n)
  [ "$(id -u)" -ne 0 ] || sudo=()
  for v in http_proxy https_proxy no_proxy; do # sudo drops them
    [ -z "${!v:-}" ] || vars+=("$v=${!v}")
  done
  ${sudo[@]+"${sudo[@]}"} env "${vars[@]}" "$@"
}

# apt ARGUMENT...: its output is shown only when it fails.
apt() {
  local log
  log=$(as_root apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" 2>&1) || { echo "$log" >&2 && return 1; }
}

policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.d/snowkey-test.conf
mark='Made by the tests of snowkey while they install packages.'

# quiet keeps the packages from starting services and from making a database.
quiet() {
  [ -e "$policy" ] || printf '#!/bin/sh\n# %s\nexit 101\n' "$mark" | as_root install -m 755 /dev/stdin "$policy"
  printf '# %s\ncreate_main_cluster = false\n' "$mark" | as_root install -D -m 644 /dev/stdin "$cluster"
}

# unquiet leaves the machine's settings as they were, however the installation ended.
unquiet() {
  ! grep -qsF "$mark" "$policy" || as_root rm -f "$policy" # a run that was killed leaves it, too
  as_root rm -f "$cluster"
  as_root rmdir --ignore-fail-on-non-empty "${cluster%/*}"
}

only='' check='' known=''
case "${1:-} $#" in
  ' 0') ;;
  '--check 1') check=yes ;;
  '--only 2') only=$2 ;;
  *) only=none ;;
esac
needs
[ -n "$known" ] || { sed -n '2s/^# //p' "$0" >&2 && exit 2; }
[ ${#missing[@]} -gt 0 ] || exit 0
printf '%s\n' 'Needed for the tests, and not on this machine (or set one of the variables):' "${missing[@]/#/  - }" >&2
[ -z "$check" ] || exit 1
type -P apt-get >/dev/null || fail 'There is no apt-get here. Install them in the way of this system, or set the variables' \
  'to the addresses of running servers. CONTRIBUTING.md shows the form of each variable.'
[ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null || fail 'Installing them needs root. Run this once:' "  sudo -E $(cd "${0%/*}" && pwd)/${0##*/} $*"

# An update that fails in part may still have what is needed: the next step finds out.
apt update || echo 'apt-get update failed, the package lists may be old' >&2
names=() new=()
for choice in "${packages[@]}"; do
  name=$(package "$choice") || fail "apt-get has no package $choice"
  names+=("$name")
  dpkg -s "$name" >/dev/null 2>&1 || new+=("$name")
done
echo "Installing ${names[*]}" >&2
trap unquiet EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
quiet
# --no-remove: a server of the machine's owner must not give way to ours, as MySQL
# would to MariaDB.
apt install -y --no-install-recommends --no-upgrade --no-remove \
  -o Dpkg::Options::=--force-confold "${names[@]}" || fail 'apt-get could not install them.'
# A service is named like its package, with or without -server. Some packages have no service.
for unit in ${new[@]+"${new[@]}" "${new[@]%-server}"}; do
  as_root systemctl disable "$unit" >/dev/null 2>&1 || true
done
needs
[ ${#missing[@]} -eq 0 ] || fail 'The packages are installed, but this is still not found:' "${missing[@]/#/  - }"
