#!/usr/bin/env bash
# Checks and tests everything. See usage below, or ./test.sh --help.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'TXT'
usage: ./test.sh [option]

Installs what the tests need and this machine lacks (Debian and Ubuntu: PostgreSQL,
PgBouncer, MariaDB, Redis, etcd, Prometheus, Spin, TypeScript, Chromium, a C compiler,
certificates; no service is started), then for every Go module: format, vet, tidiness, a build without
the workspace, lint, and all tests with the race detector against real servers. Go itself
must be there.

  --no-install    install nothing; say what is missing
  --install-only  install, test nothing
  --no-lint       leave out golangci-lint, which takes the longest to build
  --no-browser    leave out the tests of web pages, which need Chromium: where there is
                  neither Google Chrome nor a package of Chromium (Ubuntu has a snap)
  --help          this text

A server that runs already is used instead if one of these is set; see CONTRIBUTING.md:
SNOWKEY_TEST_POSTGRES, SNOWKEY_TEST_MYSQL, SNOWKEY_TEST_REDIS, SNOWKEY_TEST_ETCD.
SNOWKEY_TEST_CHROMIUM is the path of another browser of Chromium's kind.

Status: 0 all is well, 1 something failed or is missing, 2 a wrong option.
TXT
}

install=yes test=yes lint=yes
for option in "$@"; do
  case $option in
    --no-install) install='' ;;
    --install-only) test='' ;;
    --no-lint) lint='' ;;
    --no-browser) export SNOWKEY_TEST_CHROMIUM=none ;; # the tests know the word
    --help | -h)
      usage
      exit 0
      ;;
    *)
      echo "test.sh: unknown option '$option'; ./test.sh --help lists the options" >&2
      exit 2
      ;;
  esac
done

cd "$root"
exec </dev/null # nothing may wait for an answer

fail() {
  echo "test.sh: $*" >&2
  exit 1
}

# Looked at before anything is installed: without Go all that would be in vain.
need_go() {
  local want out
  want=$(sed -n 's/^go //p' go.mod)
  [ -z "$(command -v go)" ] && [ -x /usr/local/go/bin/go ] && PATH=$PATH:/usr/local/go/bin
  command -v go >/dev/null || fail "Go $want or later is needed and there is no go in PATH; see https://go.dev/dl/"
  if ! out=$(GOWORK=off GOTOOLCHAIN=local go list -m 2>&1); then
    case $(go env GOTOOLCHAIN) in
      '' | local*) fail "Go $want or later is needed, and this is $(GOTOOLCHAIN=local go env GOVERSION): $out" ;;
    esac # else go fetches a newer one by itself
  fi
}

[ -z "$test" ] || need_go
if [ -z "$install" ]; then
  tools/install.sh --check
else
  tools/install.sh
fi
[ -n "$test" ] || exit 0

work=$(mktemp -d) lane=''
finish() {
  if [ -n "$lane" ]; then
    kill -- "-$lane" 2>/dev/null || true
    cat "$work/lane" || true
  fi
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Building needs no version control, and git refuses a tree of another owner.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
export CGO_ENABLED=1 # -race needs it
export SNOWKEY_TEST_REQUIRE=1 SNOWKEY_TEST_FULL=1
export SNOWKEY_TEST_RUN=$work/run # differs in each run, so that results of tests with servers are not taken from the cache
mkdir "$SNOWKEY_TEST_RUN"

# If a server is named and its programs are not installed, tests that start their own
# cannot run. Those may be skipped, and no others.
cp tools/allowed-skips.txt "$work/allowed"
while IFS= read -r absent; do
  case $absent in
    postgres | mariadb | redis | etcd)
      echo "$absent is not installed: tests that start their own are skipped"
      echo ": no private $absent: " >>"$work/allowed"
      SNOWKEY_TEST_REQUIRE=0 # skips are compared with the allowed ones below
      ;;
  esac
done < <(tools/install.sh --absent)
[ "${SNOWKEY_TEST_CHROMIUM:-}" != none ] || echo ': no browser: SNOWKEY_TEST_CHROMIUM is none' >>"$work/allowed"

modules=()
while IFS= read -r module; do modules+=("$module"); done < <(tools/modules.sh)

# step WHERE NAME COMMAND...: runs it, and records the result and the seconds.
step() {
  local where=$1 name=$2 start=$SECONDS status=ok
  shift 2
  printf '\n=== %s: %s\n' "$where" "$name"
  "$@" || status=FAILED
  printf '%s\t%s\t%s\t%d\n' "$where" "$name" "$status" $((SECONDS - start)) >>"$work/steps"
  [ "$status" = ok ] || printf '=== %s: %s FAILED\n' "$where" "$name"
}

formatted() {
  local bad
  bad=$(gofmt -l .) || return 1
  [ -z "$bad" ] || printf 'Not formatted by gofmt:\n%s\n' "$bad"
  [ -z "$bad" ]
}

# tools_go ARGUMENT...: go in the tools' module, which may want a newer Go than the library does.
tools_go() {
  local toolchain
  toolchain=$(go env GOTOOLCHAIN)
  GOWORK=off go -C tools list -m >/dev/null 2>&1 || toolchain=auto
  GOWORK=off GOTOOLCHAIN=$toolchain go -C tools "$@"
}

# tool_path TOOL: builds it and prints its path. The downloads are shown only if one fails.
tool_path() {
  if ! tools_go tool -n "$1" 2>"$work/log"; then
    cat "$work/log" >&2
    return 1
  fi
}

build_tools() {
  gotestsum=$(tool_path gotestsum) || return 1
  [ -z "$lint" ] || golangci=$(tool_path golangci-lint)
}

# Other systems, and one of 32 bits.
elsewhere() {
  GOOS=windows CGO_ENABLED=0 go build ./... && GOOS=darwin CGO_ENABLED=0 go build ./core/... ./sqltype/... &&
    GOARCH=386 CGO_ENABLED=0 go vet ./core/... ./sqltype/... ./contrib/token
}

# core reads the processor's counter with a line of assembly for amd64, and one for arm64.
counters() {
  go test -short -tags purego ./core || return
  [ "$(uname -m)" = aarch64 ] ||
    GOARCH=arm64 CGO_ENABLED=0 go test -short -exec qemu-aarch64-static -run 'Counter|Known|StepUnder' ./core
}

# The root requires the oldest pgx that passes, and is tested with it below. The workspace
# uses the newest, because modules that are never imported require it.
newest_pgx() {
  local pgx=github.com/jackc/pgx/v5
  echo "$(go list -m -f '{{.Version}}' $pgx), and alone $(GOWORK=off go list -m -f '{{.Version}}' $pgx)"
  go test -short -timeout 60m ./pgxtype/...
}

# The methods for encoding/json/v2, which is an experiment of the toolchain.
jsonv2() { GOEXPERIMENT=jsonv2 go vet ./sqltype && GOEXPERIMENT=jsonv2 go test -vet=off ./sqltype; }

# All seeds and ids, without the race detector, which makes them ten times slower. They are the same
# for the same code, so Go may know the result.
simulated() { go test -timeout 60m -run '^(TestSimulation|TestNoDuplicateUnderClockSteps)$' ./worker ./core; }

# The Go code of the tools, and by it the licences of all modules.
licensed() {
  tools_go vet ./... && tools/licences.sh "${modules[@]}" >"$work/log" || { cat "$work/log"; return 1; }
  echo "$(grep -c '' "$work/log") modules"
}

# Our own linter, on the code that uses snowkey as its users do. Tests have faults on purpose.
own_linter() {
  tools/alone.sh ./contrib/lint go build -o "$work/snowkeylint" ./cmd/snowkeylint &&
    "$work/snowkeylint" -test=false ./... ./cmd/snowkey/... ./examples/...
}

builds() { tools/alone.sh "$1" go build -o /dev/null ./... && tools/alone.sh "$1" go vet -tags cluster ./...; }

# SQLite is C translated into Go. Its heap is not Go's, so the race detector finds next to
# nothing there, and took most of the time of the tests that use it. The driver searches all
# parameters for each one, and is left out too. Everything that calls it is checked.
as_c=('-gcflags=modernc.org/...=-race=false -d=checkptr=0' '-gcflags=github.com/glebarez/go-sqlite=-race=false -d=checkptr=0')

# In the workspace: golangci-lint cannot use another go.mod, as alone.sh does.
linted() { (cd "$1" && "$golangci" run --allow-serial-runners --config "$root/.golangci.yml" ./...); }

tested() {
  local status=0 mine
  mine=$(mktemp -d "$work/XXXXXX")
  # -p 4: tests wait for servers and clocks. -w: linking takes half the time. The step build has
  # run vet, and simulation all seeds. What Go knows from an earlier run, because neither code nor
  # files have changed, is not run again.
  SNOWKEY_SIM_SEEDS=${SNOWKEY_SIM_SEEDS:-500} tools/alone.sh "$1" "$gotestsum" --format standard-quiet --hide-summary skipped --jsonfile "$mine/events" \
    -- -p 4 -race "${as_c[@]}" -ldflags=-w -vet=off -timeout 60m ./... || status=1
  # One line for each test that ended: how, its package and name, and a skip's reason.
  awk '
    function field(name) {
      if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
      return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
    }
    field("Test") == "" { next }
    { action = field("Action"); test = field("Package") " " field("Test") }
    action == "output" && match(said_now = field("Output"), /^ *[^ ]+\.go:[0-9]+: /) {
      said[test] = " " substr(said_now, RLENGTH + 1)
      sub(/\\n$/, "", said[test])
    }
    action ~ /^(pass|fail|skip)$/ {
      print action "\t" test (action == "skip" ? ":" said[test] : "")
    }' "$mine/events" >"$mine/ended" || status=1
  local passed failed
  passed=$(grep -c '^pass' "$mine/ended" || true)
  failed=$(grep -c '^fail' "$mine/ended" || true)
  # A package that does not build, or panics, has no failed test of its own.
  [ "$passed" -gt 0 ] || status=1 # no test at all is no success
  [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1

  sed -n 's/^skip\t//p' "$mine/ended" >"$mine/skipped"
  grep -Ev '^(#|$)' "$work/allowed" >"$mine/patterns" || true
  local allowed=0 skipped
  skipped=$(grep -c '' "$mine/skipped" || true)
  allowed=$(grep -cEf "$mine/patterns" "$mine/skipped" || true)
  allowed=${allowed:-0} # with no pattern at all grep prints no count
  if [ "$skipped" -gt 0 ]; then
    grep -Ef "$mine/patterns" "$mine/skipped" | sed 's/^/Skipped, as allowed: /' || true
    grep -Evf "$mine/patterns" "$mine/skipped" | sed 's/^/Skipped, not in tools\/allowed-skips.txt: /' || true
  fi
  printf '%s\t%d\t%d\t%d\n' "$1" "$passed" "$failed" "$skipped" >>"$work/tests"
  [ "$status" -eq 0 ] && [ "$skipped" -eq "$allowed" ]
}

# checked MODULE: builds and tests it without the workspace, as its importers get it.
checked() {
  step "$1" tidy tools/alone.sh "$1" go mod tidy -diff
  step "$1" build builds "$1"
  [ -z "$gotestsum" ] || step "$1" test tested "$1"
}

# check MODULE...: checks those that the other lane has not taken.
check() {
  local module
  for module in "$@"; do
    if mkdir "$work/taken${module//\//,}" 2>/dev/null; then checked "$module"; fi
  done
}

gotestsum='' golangci=''
: >"$work/steps" && : >"$work/tests"
step all gofmt formatted
step all tools build_tools

# Two lanes check the modules: much of the time, tests wait for servers and clocks. More at
# once only makes tests of time fail. The other lane is a process group, so that the trap ends it.
set -m
check ./internal/integration "${modules[@]}" >"$work/lane" 2>&1 &
lane=$!
set +m

# The whole tree, as the workspace sees it.
[ -n "$lint" ] || step all vet go vet -tags cluster "${modules[@]/%//...}" # the linter's vet is the same
step all platforms elsewhere
step all licences licensed
step all 'newest pgx' newest_pgx
step all counters counters
step all jsonv2 jsonv2
step all simulation simulated
step all snowkeylint own_linter
[ -n "$golangci" ] || lint=''

check "${modules[@]}"
wait "$lane" || true # what it has not checked is missing below
cat "$work/lane"
lane=''
for module in "${modules[@]}"; do
  grep -qF "$module"$'\t'test$'\t' "$work/steps" || [ -z "$gotestsum" ] || step "$module" test false
done
for module in "${modules[@]}"; do
  [ -z "$lint" ] || step "$module" lint linted "$module"
done

echo
printf '%-28s %7s %7s %8s\n' tests passed failed skipped
awk -F '\t' '{ printf "%-28s %7d %7d %8d\n", $1, $2, $3, $4 }' "$work/tests"
echo
printf '%-28s %-8s %-7s %s\n' module step result seconds
awk -F '\t' '{ printf "%-28s %-8s %-7s %d\n", $1, $2, $3, $4 }' "$work/steps"
printf '%-28s %-8s %-7s %d\n\n' total '' '' "$SECONDS"

bad=$(awk -F '\t' '$3 != "ok" { printf "%s%s: %s", (n++ ? ", " : ""), $1, $2 }' "$work/steps")
[ -z "$bad" ] || echo "Failed: $bad"
# Programs read the last line: it holds nothing else.
awk -F '\t' '{ p += $2; f += $3; s += $4 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$work/tests"
[ -z "$bad" ]
