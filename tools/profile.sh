#!/usr/bin/env bash
# usage: tools/profile.sh [TIME]
#
# Writes profiles of the processor and of memory for what is called most, TIME (2s)
# for each, to bin/NAME.cpu.prof and bin/NAME.mem.prof, with the program beside them
# in bin/NAME.test, and shows where the time went. Then for example:
#   go tool pprof -list Fill bin/fill.test bin/fill.cpu.prof
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:-2s}
mkdir -p bin

# profile NAME PACKAGE BENCHMARK
profile() {
  printf '\n=== %s\n' "$1"
  go test -run='^$' -bench="$3" -benchtime="$time" -o "bin/$1.test" \
    -cpuprofile="bin/$1.cpu.prof" -memprofile="bin/$1.mem.prof" "$2"
  go tool pprof -top -cum -nodecount=25 "bin/$1.test" "bin/$1.cpu.prof" 2>/dev/null
}

profile next ./core '^BenchmarkNext$/^uncapped$'
profile fill ./core '^BenchmarkFill$/^1000$/^uncapped$'
profile assign ./gormplugin/graph '^BenchmarkAssign$/^1000x10$'
profile create ./gormplugin/graph '^BenchmarkCreateGraph$/^Create$'
profile pgx-encode ./pgxtype '^BenchmarkEncode(1000)?$/^ID$'
profile pgx-scan ./pgxtype '^BenchmarkScan(1000)?$/^ID$'
