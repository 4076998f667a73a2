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
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin # dpkg needs them, and mariadbd is in one

# needs looks for each need. A package with other names in other releases has a slash between them, best
# first; NAME-* ends in a version. Galera and Patroni are for the tests of clusters only. The places are
# those of internal/testserver/engine.go.
needs() {
  missing=() packages=()
  need certificates 'ca-certificates' certificates 'the certificates of public authorities, so that go can download modules'
  need compiler 'gcc libc6-dev' compiles 'a C compiler and the headers of the C library, for go test -race'
  need postgres 'postgresql' 'named POSTGRES || postgres initdb' 'PostgreSQL: the programs postgres and initdb, or SNOWKEY_TEST_POSTGRES'
  need pgbouncer 'pgbouncer' 'named PGBOUNCER || programs pgbouncer' 'PgBouncer: the program pgbouncer'
  need mariadb 'mariadb-server-core/mariadb-server-core-* mariadb-client-core/mariadb-client-core-*' 'named MYSQL || named MARIADB || mariadb' \
    'MariaDB: the programs mariadbd and mariadb-install-db, or SNOWKEY_TEST_MYSQL' # the latter calls a program of the client
  need redis 'redis-server' 'named REDIS || programs redis-server' 'Redis: the program redis-server, or SNOWKEY_TEST_REDIS'
  need etcd 'etcd-server/etcd etcd-client/etcd' 'named ETCD || programs etcd etcdctl' 'etcd: the programs etcd and etcdctl, or SNOWKEY_TEST_ETCD'
  need prometheus 'prometheus' 'named PROMETHEUS || programs promtool' 'Prometheus: the program promtool, which checks the alert rules'
  need spin 'spin' 'programs spin' 'Spin: the program spin, which checks the model of the leases'
  need npm 'npm' 'programs npm' 'npm: the program npm, which installs TypeScript and the linter of Markdown'
  need arm64 'qemu-user-static' '[ "$(uname -m)" = aarch64 ] || programs qemu-aarch64-static' 'QEMU: the program qemu-aarch64-static, which runs tests for arm64'
  need chromium 'chromium-headless-shell/chromium' '[ -n "${SNOWKEY_TEST_CHROMIUM:-}" ] || browser' \
    'a browser: chromium-headless-shell, chromium or google-chrome, or SNOWKEY_TEST_CHROMIUM; without one, ./test.sh --no-browser'
  [ -z "$only" ] && return
  need galera 'mariadb-server galera-4/galera-3 rsync' galera 'Galera: a MariaDB with libgalera_smm.so, and the programs wsrep_sst_rsync and rsync'
  need patroni 'patroni python3-etcd python3-psycopg2 postgresql etcd-server/etcd' patroni \
    'Patroni: the programs patroni, etcd, postgres, pg_rewind and pg_basebackup, and the Python modules etcd and psycopg2'
}

# need NAME PACKAGES TEST DESCRIPTION
need() {
  [ "${only:-$1}" = "$1" ] || return 0
  known=yes
  eval "$3" >/dev/null 2>&1 && return
  local names
  read -ra names <<<"$2"
  missing+=("$4") packages+=("${names[@]}")
}

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# named SERVER: does the caller name a server that runs already, or the folder of its programs?
named() {
  local server=SNOWKEY_TEST_$1 folder=SNOWKEY_TEST_$1_BIN
  [ -n "${!server:-}${!folder:-}" ]
}

programs() {
  local program
  for program; do type -P "$program" || return; done
}

mariadb() { programs mariadb-install-db mariadbd; } # a mysqld may be MySQL's

# postgres PROGRAM: are they in one folder?
postgres() {
  local dir
  while IFS= read -r dir; do
    [ ! -x "$dir/postgres" ] || [ ! -x "$dir/$1" ] || return 0
  done < <(tr ':' '\n' <<<"$PATH" && printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
    /opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin)
  return 1
}

galera() { mariadb && programs wsrep_sst_rsync rsync && { compgen -G '/usr/lib*/galera*/libgalera_smm.so' || compgen -G '/usr/lib/*/galera*/libgalera_smm.so'; }; }

patroni() {
  local python
  programs patroni etcd && postgres pg_rewind && postgres pg_basebackup || return
  # The python that it names itself: another may be first in PATH.
  read -r -a python < <(sed -n '1s/^#! *//p' "$(type -P patroni)")
  "${python[@]:-python3}" -c 'import etcd, psycopg2'
}

# certificates: where crypto/x509 looks; elsewhere the system keeps them.
certificates() {
  local file
  [ "$(uname -s)" = Linux ] && [ ! -r "${SSL_CERT_FILE:-none}" ] || return 0
  for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
    /etc/ssl/ca-bundle.pem /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/cert.pem; do
    [ ! -s "$file" ] || return 0
  done
  return 1
}

# shellcheck disable=SC2086 # CC may hold arguments
compiles() { ${CC:-gcc} -x c -o /dev/null - <<<$'#include <stdlib.h>\nint main(void) { return 0; }'; }

# A snap's Chromium, as Ubuntu has it, sees no folder that the tests make.
browser() {
  local name path
  for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable chrome; do
    path=$(type -P "$name") || continue
    [[ $(readlink -f "$path") == @(/snap/*|*/bin/snap) ]] || grep -qs /snap/bin "$path" || return 0
  done
  [ -x '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' ]
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
  local vars=(DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C "PATH=$PATH") v sudo=(sudo -n)
  [ "$(id -u)" -ne 0 ] || sudo=()
  for v in http_proxy https_proxy no_proxy; do # sudo drops them
    [ -z "${!v:-}" ] || vars+=("$v=${!v}")
  done
  ${sudo[@]+"${sudo[@]}"} env "${vars[@]}" "$@"
}

# apt ARGUMENT...: its output is shown only when it fails.
apt() {
  local log
  log=$(as_root apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" 2>&1) || {
    printf '%s\n' "$log" >&2
    return 1
  }
}

policy=/usr/sbin/policy-rc.d made_policy=''
cluster=/etc/postgresql-common/createcluster.d/snowkey-test.conf made_cluster=''
mark='Made by the tests of snowkey while they install packages.'

# quiet keeps the packages from starting services and from making a database.
quiet() {
  if [ ! -e "$policy" ] || grep -qF "$mark" "$policy"; then # the latter: a run of ours was killed
    made_policy=yes
    printf '#!/bin/sh\n# %s\nexit 101\n' "$mark" | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
  fi
  if [ ! -e "$cluster" ]; then
    made_cluster=yes
    as_root mkdir -p "${cluster%/*}"
    echo 'create_main_cluster = false' | as_root tee "$cluster" >/dev/null
  fi
}

# unquiet leaves the machine's settings as they were, however the installation ended.
unquiet() {
  [ -z "$made_policy" ] || as_root rm -f "$policy"
  [ -z "$made_cluster" ] || { as_root rm -f "$cluster" && as_root rmdir "${cluster%/*}" 2>/dev/null || true; } # not empty: not ours
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
printf '%s\n' 'Needed for the tests, and not on this machine:' "${missing[@]/#/  - }" >&2
[ -z "$check" ] || exit 1
command -v apt-get >/dev/null 2>&1 || fail 'There is no apt-get here. Install them in the way of this system, or set the variables' \
  'to the addresses of running servers. CONTRIBUTING.md shows the form of each variable.'
if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
  with='' how='as root'
  if command -v sudo >/dev/null 2>&1; then with='sudo ' how='it asks for your password'; fi
  fail "Installing them needs root. Run this once ($how):" "  $with$(printf %q "$root/test.sh") --install-only"
fi

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
# A service has the name of its package, or that without -server. Either program may not know it, and
# nothing hangs on it.
for unit in ${new[@]+"${new[@]}" "${new[@]%-server}"}; do
  if command -v systemctl >/dev/null 2>&1; then
    as_root systemctl disable "$unit" >/dev/null 2>&1 || true
  elif command -v update-rc.d >/dev/null 2>&1; then
    as_root update-rc.d "$unit" disable >/dev/null 2>&1 || true
  fi
done
needs
[ ${#missing[@]} -eq 0 ] || fail 'The packages are installed, but this is still not found:' "${missing[@]/#/  - }"
