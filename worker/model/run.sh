#!/usr/bin/env bash
# Checks lease.pml with spin. See usage below, or run.sh --help.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'TXT'
usage: run.sh                    the small sizes: the fence holds, and each mutation, each
                                 assumption given up, and the naive scheme is caught
       run.sh --big              the same, and the fence in the large sizes: a quarter of an
                                 hour, and up to 4 GB of memory
       run.sh --trace SWITCH...  shows a shortest counterexample, for example of OWN_CLOCK, or
                                 of NAIVE PAUSE; lease.pml lists the switches, SIZE=n are some

Needs spin and a C compiler (CC, or gcc). SPIN_SECONDS bounds each search (240, --big 3600),
SPIN_MEGABYTES its memory (2000, --big 12000).

Status: 0 all is as it must be, 1 it is not, 2 a wrong option, 3 spin or the compiler is missing.
TXT
}

mode=small
switches=()
case ${1:-} in
  '') ;;
  --big) mode=big ;;
  --trace)
    mode=trace
    shift
    for switch in "$@"; do switches+=("-D$switch"); done
    ;;
  --help | -h)
    usage
    exit 0
    ;;
  *)
    echo "run.sh: unknown option '$1'; run.sh --help lists the options" >&2
    exit 2
    ;;
esac
if [ "$mode" = trace ] && [ ${#switches[@]} -eq 0 ] || [ "$mode" != trace ] && [ $# -gt 1 ]; then
  usage >&2
  exit 2
fi

read -ra cc <<<"${CC:-gcc}"
for program in spin "${cc[0]}"; do
  if ! command -v "$program" >/dev/null 2>&1; then
    echo "run.sh: $program is not installed; on Debian and Ubuntu: apt-get install spin gcc libc6-dev" >&2
    exit 3
  fi
done

seconds=${SPIN_SECONDS:-240} megabytes=${SPIN_MEGABYTES:-2000}
if [ "$mode" = big ]; then seconds=${SPIN_SECONDS:-3600} megabytes=${SPIN_MEGABYTES:-12000}; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cp "$here/lease.pml" "$work/lease.pml"
cd "$work"

optimize=-O2

# build OPTION...: options with -D are for the model; -DBFS for the search.
build() {
  local model=() search=(-DSAFETY "-DMEMLIM=$megabytes") option
  for option in "$@"; do
    if [ "$option" = -DBFS ]; then search+=("$option"); else model+=("$option"); fi
  done
  rm -f pan pan.* lease.pml.trail
  if ! { spin -a ${model[@]+"${model[@]}"} lease.pml && "${cc[@]}" "$optimize" -w "${search[@]}" -o pan pan.c; } >spin.log 2>&1; then
    cat spin.log >&2
    echo "run.sh: the model does not compile with $*" >&2
    exit 1
  fi
}

# number PATTERN: what stands before it in the log.
number() { sed -nE "s/^ *([0-9.]+) $1.*/\1/p" pan.log | head -n 1; }

status=0

# check WANT NAME OPTION...: WANT is `holds` or `caught`. It holds only when every
# state has been seen, and every line of the model has been run.
check() {
  local want=$1 name=$2 got how=0 errors states took unreached
  shift 2
  if [ "$want" = caught ]; then optimize=-O0; else optimize=-O2; fi # compiling takes longer than finding one
  build "$@"
  timeout "$seconds" ./pan -m200000 -w22 >pan.log 2>&1 || how=$?
  errors=$(sed -nE 's/.*errors: ([0-9]+).*/\1/p' pan.log)
  states=$(number 'states, stored')
  took=$(sed -nE 's/^pan: elapsed time ([0-9.e+-]+) seconds.*/\1/p' pan.log)
  if [ "$how" -eq 124 ]; then
    got="not finished in $seconds s"
  elif grep -q 'assertion violated' pan.log && [ -e lease.pml.trail ]; then
    got=caught
  elif [ "$how" -ne 0 ] || [ "$errors" != 0 ] || ! grep -q '^Full statespace search' pan.log ||
    grep -Eq 'Search not completed|max search depth too small|out of memory|memory limit' pan.log; then
    got='not finished'
  else
    got=holds
    # The last line of a process that never ends is not reached, and cannot be.
    unreached=$(grep -E '^[[:space:]]+lease\.pml:[0-9]+, state' pan.log | grep -vc -- '-end-' || true)
    [ "$unreached" -eq 0 ] || got="holds, but $unreached statements are never run"
  fi
  printf '%-7s %-44s %10s states %8s s   %s\n' "$got" "$name" "${states:--}" "${took:--}" "$*"
  if [ "$got" != "$want" ]; then
    status=1
    echo "FAILED: it must be '$want'"
    tail -n 40 pan.log
  fi
}

if [ "$mode" = trace ]; then
  build -DBFS "${switches[@]}"
  timeout "$seconds" ./pan -w22 >pan.log 2>&1 || true
  if [ ! -e lease.pml.trail ]; then
    cat pan.log
    echo 'There is no counterexample, or the search was not finished.'
    exit 1
  fi
  spin -t -T "${switches[@]}" lease.pml | grep -E '^(holder|store|operator|time) |^ +an id: '
  echo 'Two claims have issued in that tick.'
  exit 0
fi

echo "$(spin -V); $("${cc[@]}" --version | head -n 1)"
check holds 'fence: two holders, one number'
check holds 'fence: two holders, two numbers' -DNUMBERS=2 -DT=2 -DW=1 -DMAXEPOCH=2 -DMAXTOKEN=2
small=(-DT=3 -DW=1)
check caught 'renewal of anybody' -DRENEW_UNGUARDED "${small[@]}"
check caught 'renewal by token, without epoch' -DRENEW_BY_TOKEN "${small[@]}"
check caught 'bound raised before the acknowledgement' -DRAISE_EARLY "${small[@]}"
check caught 'claim begins at its own clock' -DOWN_CLOCK "${small[@]}"
check caught 'released before the run is closed' -DRELEASE_EARLY "${small[@]}"
check caught 'released below what was issued' -DRELEASE_LOW "${small[@]}"
check caught 'release of anybody' -DRELEASE_UNGUARDED "${small[@]}"
check caught 'assumption 1 given up: writes are lost' -DLOSSY "${small[@]}" -DMAXEPOCH=2 -DMAXTOKEN=2
check caught 'assumption 2 given up: memory is copied' -DCLONE "${small[@]}"
check caught 'time to live only, a holder is paused' -DNAIVE -DPAUSE
check caught 'time to live only, a clock is one tick slow' -DNAIVE -DSLOW=1
check holds 'time to live only, were there no such things' -DNAIVE
if [ "$mode" = big ]; then
  check holds 'fence: three holders' -DHOLDERS=3 -DT=3 -DW=1
  check holds 'fence: longer time' -DT=5
fi
[ "$status" -eq 0 ] && echo 'All as it must be.'
exit "$status"
