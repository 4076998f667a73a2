#!/usr/bin/env bash
# usage: tools/alone.sh [--keep] FOLDER COMMAND [ARGUMENT...]     FOLDER holds a go.mod
#
# Runs a command in the module FOLDER as if the workspace did not exist, so with the
# versions that the module's own go.mod requires: what its importers get.
#
# A nested module that is published has no replace directive, and the version of the
# root that it requires may not be published yet. For the command only, a copy of its
# go.mod is used in which each module of this repository is the one beside it. --keep
# writes back what the command made of the copy (go mod tidy), without that change.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
keep=
if [ "${1:-}" = --keep ]; then keep=yes && shift; fi
if [ $# -lt 2 ] || [ ! -f "$root/$1/go.mod" ]; then
  sed -n '2s/^# //p' "$0" >&2 && exit 2
fi
cd "$root/$1"
shift
export GOWORK=off
if [ "$PWD" = "$root" ] || grep -q '^replace ' go.mod; then exec "$@"; fi

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp go.mod "$copy"
[ ! -f go.sum ] || cp go.sum "$copy"
add=() drop=()
for sibling in $("$root/tools/modules.sh"); do
  [ "$root/$sibling" -ef . ] && continue
  name=$(sed -n 's/^module //p' "$root/$sibling/go.mod")
  add+=("-replace=$name=$root/${sibling#./}") drop+=("-dropreplace=$name")
done
go mod edit "${add[@]}" "$copy/go.mod"
GOFLAGS="${GOFLAGS:-} '-modfile=$copy/go.mod'" "$@"
if [ -n "$keep" ]; then
  go mod edit "${drop[@]}" "$copy/go.mod"
  cp "$copy"/go.* .
fi
