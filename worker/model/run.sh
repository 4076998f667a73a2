#!/usr/bin/env bash
# Checks lease.pml, live.pml, generator.pml and queue.pml with spin. See usage below, or run.sh --help.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'TXT'
usage: run.sh                    the small sizes: the fence holds, and each mutation, each
                                 assumption given up, and the naive scheme is caught; ids come
                                 again, and each mutation, and the design before, is caught;
                                 the generator in SQL issues no slot twice, nor does the line
                                 of calls that wait
       run.sh --big              the same, and the fence in the large sizes: a quarter of an
                                 hour, and up to 4 GB of memory
       run.sh --cycle SWITCH...  shows a cycle of live.pml without an id, for example of
                                 CALLER_EXCHANGES LEAPS=1 OUTAGES=0
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
  --trace | --cycle)
    mode=${1#--}
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
if [[ $mode == trace || $mode == cycle ]]; then least=1; else least=0; fi
if [ ${#switches[@]} -lt $least ] || [ $least = 0 ] && [ $# -gt 1 ]; then
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
cp "$here"/*.pml "$work/"
cd "$work"

optimize=-O2
file=lease.pml violation='assertion violated' search=(-DSAFETY) options=() # see live

# build OPTION...: options with -D are for the model; -DBFS for the search.
build() {
  local model=() define=("${search[@]}" "-DMEMLIM=$megabytes") option
  for option in "$@"; do
    if [ "$option" = -DBFS ]; then define+=("$option"); else model+=("$option"); fi
  done
  rm -f pan pan.* "$file.trail"
  if ! { spin -a ${model[@]+"${model[@]}"} "$file" && "${cc[@]}" "$optimize" -w "${define[@]}" -o pan pan.c; } >spin.log 2>&1; then
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
  if [ "$want" = caught ] || [ "$file" = live.pml ]; then optimize=-O0; else optimize=-O2; fi # compiling takes longer than finding one
  build "$@"
  timeout "$seconds" ./pan ${options[@]+"${options[@]}"} -m200000 -w22 >pan.log 2>&1 || how=$?
  errors=$(sed -nE 's/.*errors: ([0-9]+).*/\1/p' pan.log)
  states=$(number 'states, stored')
  took=$(sed -nE 's/^pan: elapsed time ([0-9.e+-]+) seconds.*/\1/p' pan.log)
  if [ "$how" -eq 124 ]; then
    got="not finished in $seconds s"
  elif grep -q "$violation" pan.log && [ -e "$file.trail" ]; then
    got=caught
  elif [ "$how" -ne 0 ] || [ "$errors" != 0 ] || ! grep -q '^Full statespace search' pan.log ||
    grep -Eq 'Search not completed|max search depth too small|out of memory|memory limit' pan.log; then
    got='not finished'
  else
    got=holds
    if [ "$file" = live.pml ]; then
      unreached=0 # not counted: each size runs only what may happen in it
    else
      # The last line of a process that never ends is not reached, and cannot be.
      unreached=$(grep -E "^[[:space:]]+$file:[0-9]+, state" pan.log | grep -vc -- '-end-' || true)
    fi
    [ "$unreached" -eq 0 ] || got="holds, but $unreached statements are never run"
  fi
  printf '%-7s %-44s %10s states %8s s   %s\n' "$got" "$name" "${states:--}" "${took:--}" "$*"
  if [ "$got" != "$want" ]; then
    status=1
    echo "FAILED: it must be '$want'"
    tail -n 40 pan.log
  fi
}

# live makes the checks that follow those of liveness: under weak fairness there is no
# cycle without an id.
live() { file=live.pml violation='acceptance cycle' search=(-DNFAIR=4) options=(-a -f); }

if [ "$mode" = cycle ]; then
  live
  build "${switches[@]}"
  timeout "$seconds" ./pan -a -f -m200000 -w22 >pan.log 2>&1 || true
  if [ ! -e live.pml.trail ]; then
    cat pan.log
    echo 'There is no cycle, or the search was not finished.'
    exit 1
  fi
  spin -t -T "${switches[@]}" live.pml | sed -nE 's/^ *((store|clock|caller|time|lease) .*)/\1/p; s/^ *<+START OF CYCLE>+.*/and from here on again and again:/p'
  exit 0
fi
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

# The generator in SQL: see docs/generator.md.
file=generator.pml
small=(-DSLOTS=9 -DSPAN=3 -DQUITS=0)
check holds 'SQL generator: a crash, and a cancelled call' "${small[@]}"
if [ "$mode" = big ]; then check holds 'SQL generator: longer time, a disconnection'; fi
check caught 'SQL generator: blocks without the lock' -DNO_LOCK "${small[@]}"
check caught 'SQL generator: a fence that is not flushed' -DNO_FLUSH "${small[@]}"
check caught 'SQL generator: a crash is not noticed' -DNO_MARKER "${small[@]}"
check caught 'SQL generator: the position after the fence' -DLATE_POSITION "${small[@]}"
check caught 'SQL generator: a block begun without the lock' -DKEEP_UNLOCKED "${small[@]}"
check caught 'SQL generator: the cursor is lowered' -DSTEP_BACK "${small[@]}"

file=queue.pml
check holds 'line of calls: no slot twice, in order'
check caught 'line of calls: a slot is given back twice' -DGIVE_TWICE
check caught 'line of calls: issued after the end' -DIGNORE_CLOSED
check caught 'line of calls: the last id is not recorded' -DNOT_LAST
check caught 'line of calls: a slot below the last id' -DOLD_GAPS
check caught 'line of calls: the end is read too early' -DUNLOCKED_CLOSE

live
one=(-DCALLERS=1) healthy=(-DOUTAGES=0)
check holds 'ids come again: an outage' "${one[@]}"
if [ "$mode" = big ]; then check holds 'ids come again: two outages' "${one[@]}" -DOUTAGES=2; fi
check holds 'ids come again: one pool for rows and leases' -DPOOL=1
check holds 'ids come again: a request never answered' "${one[@]}" -DSTUCK=1
check holds 'ids come again: a worker ID is lost' "${one[@]}" -DTAKES=1 "${healthy[@]}"
check holds 'ids come again: a clock leaps, maybe for good' "${one[@]}" -DLEAPS=1 -DFOREVER "${healthy[@]}"
check holds 'ids come again: another worker ID is wanted' "${one[@]}" -DBACKS=1 "${healthy[@]}"
check holds 'ids come again: the same, and a worker ID is lost' "${one[@]}" -DBACKS=1 -DTAKES=1 "${healthy[@]}"
check holds 'ids come again: another is wanted, in one pool' -DBACKS=1 -DPOOL=1 "${healthy[@]}"
check holds 'ids come again: an answer and a worker ID are lost' "${one[@]}" -DBACKS=1 -DLOSES=1 -DTAKES=1 "${healthy[@]}"
check holds 'a closed lease holds nothing' "${one[@]}" -DCLOSES=1 -DBACKS=1 "${healthy[@]}"
check holds 'ids come again: a leap, and an exchange' "${one[@]}" -DLEAPS=1 -DBACKS=1 "${healthy[@]}"
check caught 'before: a caller exchanges, under MaxWait' -DCALLER_EXCHANGES -DLEAPS=1 "${healthy[@]}"
check holds 'before: the same, were answers quick' -DCALLER_EXCHANGES -DLEAPS=1 -DPATIENCE=1 "${healthy[@]}"
check caught 'before: a caller rotates, under MaxWait' -DROTATE_UNDER_MAXWAIT -DBACKS=1 "${one[@]}" "${healthy[@]}"
check holds 'before: the same, were answers quick' -DROTATE_UNDER_MAXWAIT -DBACKS=1 -DPATIENCE=1 "${one[@]}" "${healthy[@]}"
check caught 'before: calls wait at the fence' -DWAIT_IN_TRANSACTION -DPOOL=1
check caught 'a renewal that failed is not made again' -DNO_RETRY "${one[@]}"
check caught 'an abandoned request blocks all others' -DABANDONED_BLOCKS -DSTUCK=1 "${one[@]}" "${healthy[@]}"
check caught 'a request is waited for for ever' -DNO_TIMEOUT -DSTUCK=1 "${one[@]}" "${healthy[@]}"
check caught 'not renewed while the clock is checked' -DCHECKING_NO_RENEWAL -DLEAPS=1 -DFOREVER "${one[@]}" "${healthy[@]}"
check caught 'no claim after a loss' -DLOST_NO_CLAIM -DTAKES=1 "${one[@]}" "${healthy[@]}"
check caught 'a late claim is forgotten, not released' -DFORGET -DBACKS=1 "${one[@]}"
check caught 'a claim is repeated as another request' -DNARROWS -DBACKS=1 -DLOSES=1 -DTAKES=1 "${one[@]}" "${healthy[@]}"
[ "$status" -eq 0 ] && echo 'All as it must be.'
exit "$status"
