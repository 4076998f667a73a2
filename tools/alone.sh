#!/usr/bin/env bash
# usage: tools/alone.sh [--keep] FOLDER COMMAND [ARGUMENT...]
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
if [ "${1:-}" = --keep ]; then
  keep=yes
  shift
fi
if [ $# -lt 2 ] || [ ! -f "$root/$1/go.mod" ]; then
  echo 'usage: tools/alone.sh [--keep] FOLDER COMMAND [ARGUMENT...], where FOLDER holds a go.mod' >&2
  exit 2
fi
cd "$root/$1"
shift
export GOWORK=off

copy='' siblings=()
while IFS= read -r sibling; do
  name=$(sed -n 's/^module //p' "$root/$sibling/go.mod")
  # Required, and not replaced?
  awk -v name="$name" '
    $1 == "require" || $1 == "replace" { line = $2; what = $1; arrow = $3 == "=>" || $4 == "=>" }
    $1 != "require" && $1 != "replace" { line = $1; arrow = $2 == "=>" || $3 == "=>" }
    line == name && arrow { replaced = 1 }
    line == name && !arrow { required = 1 }
    END { exit !(required && !replaced) }' go.mod || continue
  if [ -z "$copy" ]; then
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    cp go.mod "$copy/go.mod"
    [ ! -f go.sum ] || cp go.sum "$copy/go.sum"
    export GOFLAGS="${GOFLAGS:-} '-modfile=$copy/go.mod'"
  fi
  siblings+=("$name")
  (cd "$copy" && GOFLAGS='' go mod edit -replace="$name=$root/${sibling#./}" go.mod)
done < <("$root/tools/modules.sh")

status=0
"$@" || status=$?
if [ -n "$keep" ] && [ -n "$copy" ] && [ "$status" -eq 0 ]; then
  for name in "${siblings[@]}"; do
    (cd "$copy" && GOFLAGS='' go mod edit -dropreplace="$name" go.mod)
  done
  cp "$copy/go.mod" go.mod
  [ ! -f "$copy/go.sum" ] || cp "$copy/go.sum" go.sum
fi
exit "$status"
