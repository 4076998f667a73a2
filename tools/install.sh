#!/usr/bin/env bash
# usage: tools/install.sh            installs what the tests need and this machine lacks
#        tools/install.sh --only N   the same for N alone, one of `needs` or `extras` below
#        tools/install.sh --absent   prints the names of what is lacking, installs nothing
#
# The tests start servers of their own on free ports. Their programs come from
# Debian's or Ubuntu's packages, but no service is started by the installation, none
# is enabled for the next boot, and no package that is there is upgraded or removed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # dpkg needs them, and mariadbd is in one

policy=/usr/sbin/policy-rc.d
policy_mark='Made by the tests of snowkey while they install packages.'
cluster_dir=/etc/postgresql-common/createcluster.d

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# What the tests need. For each: is it here, and which packages hold it? The extras are
# for targets of the Makefile only.
needs='certificates compiler postgres pgbouncer mariadb redis etcd prometheus spin typescript arm64 chromium'
extras='galera patroni'

describe() {
  case $1 in
    certificates) echo 'the certificates of public authorities, so that go can download modules' ;;
    compiler) echo 'a C compiler and the headers of the C library, for go test -race' ;;
    postgres) echo 'PostgreSQL: the programs postgres and initdb, or SNOWKEY_TEST_POSTGRES' ;;
    pgbouncer) echo 'PgBouncer: the program pgbouncer' ;;
    mariadb) echo 'MariaDB: the programs mariadbd and mariadb-install-db, or SNOWKEY_TEST_MYSQL' ;;
    redis) echo 'Redis: the program redis-server, or SNOWKEY_TEST_REDIS' ;;
    etcd) echo 'etcd: the program etcd, or SNOWKEY_TEST_ETCD' ;;
    prometheus) echo 'Prometheus: the programs promtool and prometheus, which check the alert rules and the dashboard' ;;
    spin) echo 'Spin: the program spin, which checks the model of the leases' ;;
    typescript) echo 'TypeScript: the program tsc, which checks the types of a client' ;;
    arm64) echo 'QEMU: the program qemu-aarch64-static, which runs tests for arm64' ;;
    galera) echo 'Galera: a MariaDB with libgalera_smm.so, and the programs wsrep_sst_rsync and rsync' ;;
    patroni) echo 'Patroni: the programs patroni, etcd, postgres, pg_rewind and pg_basebackup, and the Python modules etcd and psycopg2' ;;
    chromium) echo 'a browser: chromium-headless-shell, chromium or google-chrome, or SNOWKEY_TEST_CHROMIUM; without one, ./test.sh --no-browser' ;;
  esac
}

# present NEED: the same places as in internal/testserver/engine.go, for the browser in
# internal/integration/browser, and for tsc in examples/jsonapi.
present() {
  case $1 in
    certificates) certificates ;;
    compiler) compiles ;;
    postgres) [ -n "${SNOWKEY_TEST_POSTGRES_BIN:-}" ] || postgres ;;
    pgbouncer) [ -n "${SNOWKEY_TEST_PGBOUNCER_BIN:-}" ] || program pgbouncer ;;
    mariadb) [ -n "${SNOWKEY_TEST_MARIADB_BIN:-}" ] || mariadb ;;
    redis) [ -n "${SNOWKEY_TEST_REDIS_BIN:-}" ] || program redis-server ;;
    etcd) [ -n "${SNOWKEY_TEST_ETCD_BIN:-}" ] || program etcd ;;
    prometheus) [ -n "${SNOWKEY_TEST_PROMETHEUS_BIN:-}" ] || { program promtool && program prometheus; } ;;
    spin) command -v spin >/dev/null 2>&1 ;;
    typescript) [ -x "$root/examples/jsonapi/client/node_modules/.bin/tsc" ] || command -v tsc >/dev/null 2>&1 ;;
    arm64) [ "$(uname -m)" = aarch64 ] || command -v qemu-aarch64-static >/dev/null 2>&1 ;;
    galera) galera ;;
    patroni) patroni ;;
    chromium) [ -n "${SNOWKEY_TEST_CHROMIUM:-}" ] || browser ;;
  esac
}

# given NEED: does the caller name a server that runs already?
given() {
  case $1 in
    postgres) [ -n "${SNOWKEY_TEST_POSTGRES:-}" ] ;;
    mariadb) [ -n "${SNOWKEY_TEST_MYSQL:-}" ] ;;
    redis) [ -n "${SNOWKEY_TEST_REDIS:-}" ] ;;
    etcd) [ -n "${SNOWKEY_TEST_ETCD:-}" ] ;;
    *) return 1 ;;
  esac
}

program() { command -v "$1" >/dev/null 2>&1 || [ -x "/opt/homebrew/bin/$1" ]; }

certificates() {
  [ "$(uname -s)" = Linux ] || return 0 # elsewhere the system keeps them
  [ -z "${SSL_CERT_FILE:-}" ] || [ ! -r "$SSL_CERT_FILE" ] || return 0
  local file # where crypto/x509 looks
  for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
    /etc/ssl/ca-bundle.pem /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/cert.pem; do
    [ ! -s "$file" ] || return 0
  done
  return 1
}

compiles() {
  local out status=0
  out=$(mktemp)
  # shellcheck disable=SC2086 # CC may hold arguments
  printf '#include <stdlib.h>\nint main(void) { return 0; }\n' |
    ${CC:-gcc} -x c -o "$out" - >/dev/null 2>&1 || status=1
  rm -f "$out"
  return "$status"
}

postgres() {
  local dir
  while IFS= read -r dir; do
    [ ! -x "$dir/postgres" ] || [ ! -x "$dir/initdb" ] || return 0
  done < <(tr ':' '\n' <<<"$PATH" && printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
    /opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin)
  return 1
}

mariadb() {
  program mariadb-install-db && program mariadbd # a mysqld may be MySQL's
}

# galera: the same places as in internal/testserver/mysql.go.
galera() {
  mariadb && program wsrep_sst_rsync && program rsync || return 1
  local file
  for file in /usr/lib/galera*/libgalera_smm.so /usr/lib64/galera*/libgalera_smm.so /usr/lib/*/galera*/libgalera_smm.so; do
    [ ! -e "$file" ] || return 0
  done
  return 1
}

# patroni: the same places as in internal/testserver/postgres.go.
patroni() {
  local script dir python
  script=$(type -P patroni) && program etcd || return 1
  # The python that it names itself: another may be first in PATH.
  read -r -a python < <(sed -n '1s/^#! *//p' "$script")
  "${python[@]:-python3}" -c 'import etcd, psycopg2' >/dev/null 2>&1 || return 1
  while IFS= read -r dir; do
    [ ! -x "$dir/postgres" ] || [ ! -x "$dir/pg_rewind" ] || [ ! -x "$dir/pg_basebackup" ] || return 0
  done < <(tr ':' '\n' <<<"$PATH" && printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin)
  return 1
}

# A snap's Chromium, as Ubuntu has it, sees no folder that the tests make.
browser() {
  local name path
  for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable chrome; do
    path=$(command -v "$name" 2>/dev/null) || continue
    case $(readlink -f "$path") in
      /snap/* | */bin/snap) continue ;;
    esac
    ! grep -qs /snap/bin "$path" || continue
    return 0
  done
  [ -x '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' ]
}

absent() {
  local need
  for need in $needs; do
    present "$need" || echo "$need"
  done
}

# packages NEED: the names of its packages in this release, chosen among those that
# apt can install. Older releases keep MariaDB under names that end in its version.
packages() {
  case $1 in
    certificates) first ca-certificates ;;
    compiler) first gcc && first libc6-dev ;;
    postgres) first postgresql ;;
    pgbouncer) first pgbouncer ;;
    mariadb)
      first mariadb-server-core "$(versioned mariadb-server-core)" &&
        first mariadb-client-core "$(versioned mariadb-client-core)" # mariadb-install-db calls one of its programs
      ;;
    redis) first redis-server ;;
    etcd) first etcd-server etcd ;;
    prometheus) first prometheus ;;
    spin) first spin ;;
    typescript) first node-typescript ;;
    arm64) first qemu-user-static ;;
    # The helper that gives a new member its data comes with the whole server.
    galera) first mariadb-server && first galera-4 galera-3 && first rsync ;;
    patroni) first patroni && first python3-etcd && first python3-psycopg2 && first postgresql && first etcd-server etcd ;;
    chromium) first chromium-headless-shell chromium ;; # chromium-browser is a way to Ubuntu's snap
  esac
}

first() {
  local name
  for name in "$@"; do
    [ -n "$name" ] || continue
    # Not "Candidate: (none)".
    if [[ $(LC_ALL=C apt-cache policy "$name" 2>/dev/null) == *'Candidate: '[!\(]* ]]; then
      echo "$name"
      return 0
    fi
  done
  return 1
}

versioned() { apt-cache pkgnames "$1-" 2>/dev/null | grep -E "^$1-[0-9.]+$" | sort -V | tail -n 1 || true; }

as_root() {
  local vars=(DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C "PATH=$PATH") v
  for v in http_proxy https_proxy no_proxy; do # sudo drops them
    [ -z "${!v:-}" ] || vars+=("$v=${!v}")
  done
  if [ "$(id -u)" -eq 0 ]; then
    env "${vars[@]}" "$@"
  else
    sudo -n env "${vars[@]}" "$@"
  fi
}

apt() { as_root apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"; }

# logged COMMAND...: its output is shown only when it fails.
logged() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

made_policy='' made_cluster=''

# quiet keeps the packages from starting services and from making a database.
quiet() {
  if [ ! -e "$policy" ] || grep -qF "$policy_mark" "$policy"; then # the latter: a run of ours was killed
    made_policy=yes
    printf '#!/bin/sh\n# %s\nexit 101\n' "$policy_mark" | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
  fi
  if [ ! -e "$cluster_dir/snowkey-test.conf" ]; then
    made_cluster=yes
    as_root mkdir -p "$cluster_dir"
    echo 'create_main_cluster = false' | as_root tee "$cluster_dir/snowkey-test.conf" >/dev/null
  fi
}

# unquiet leaves the machine's settings as they were, however the installation ended.
unquiet() {
  [ -z "$made_policy" ] || as_root rm -f "$policy"
  [ -z "$made_cluster" ] || as_root rm -f "$cluster_dir/snowkey-test.conf"
  [ -z "$made_cluster" ] || as_root rmdir "$cluster_dir" 2>/dev/null || true # not empty: not ours
}

if [ "${1:-}" = --only ]; then
  case " $needs $extras " in
    *" ${2:-} "*) needs=$2 ;;
    *) fail "tools/install.sh: --only must be followed by one of: $needs $extras" ;;
  esac
  shift 2
fi

# What is missing and may not be, because no server is named in its place.
missing=()
while IFS= read -r need; do
  given "$need" || missing+=("$need")
done < <(absent)

case ${1:-} in
  --absent)
    absent
    exit 0
    ;;
  --check | '') ;;
  *)
    echo 'usage: tools/install.sh [--only NEED] [--absent | --check]' >&2
    exit 2
    ;;
esac

[ ${#missing[@]} -gt 0 ] || exit 0

echo 'Needed for the tests, and not on this machine:' >&2
for need in "${missing[@]}"; do
  echo "  - $(describe "$need")" >&2
done

[ "${1:-}" != --check ] || exit 1
command -v apt-get >/dev/null 2>&1 || fail 'There is no apt-get here. Install them in the way of this system, or set the variables' \
  'to the addresses of running servers. CONTRIBUTING.md shows the form of each variable.'
if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
  with='' how='as root'
  if command -v sudo >/dev/null 2>&1; then with='sudo ' how='it asks for your password'; fi
  fail "Installing them needs root. Run this once ($how):" "  $with$(printf %q "$root/test.sh") --install-only"
fi

# An update that fails in part may still have what is needed: the next step finds out.
logged apt update || echo 'apt-get update failed, the package lists may be old' >&2
names=()
for need in "${missing[@]}"; do
  found=$(packages "$need") || fail "apt-get has no package for this: $(describe "$need")"
  while IFS= read -r name; do names+=("$name"); done <<<"$found"
done

echo "Installing ${names[*]}" >&2
trap unquiet EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
quiet
# --no-remove: a server of the machine's owner must not give way to ours, as MySQL
# would to MariaDB.
logged apt install -y --no-install-recommends --no-upgrade --no-remove \
  -o Dpkg::Options::=--force-confold "${names[@]}" || fail 'apt-get could not install them.'
for need in "${missing[@]}"; do
  case $need in
    postgres) unit=postgresql ;;
    pgbouncer) unit=pgbouncer ;;
    redis) unit=redis-server ;;
    etcd) unit=etcd ;;
    prometheus) unit=prometheus ;;
    galera) unit=mariadb ;;
    patroni) unit=patroni ;;
    *) continue ;;
  esac
  # Either may not know the unit in this release, and nothing hangs on it.
  if command -v systemctl >/dev/null 2>&1; then
    as_root systemctl disable "$unit" >/dev/null 2>&1 || true
  elif command -v update-rc.d >/dev/null 2>&1; then
    as_root update-rc.d "$unit" disable >/dev/null 2>&1 || true
  fi
done
unquiet
trap - EXIT

for need in "${missing[@]}"; do
  present "$need" || fail "The packages are installed, but this is still not found: $(describe "$need")"
done
