#!/usr/bin/env bash
# usage: tools/api.sh [TAG]
#
# Compares what the published packages export with a tag, the last one if none is
# given. Without a tag there is nothing to compare with. Status 1: something that
# programs may use has gone or changed.
#
# Not by gorelease: it compares with a version that a proxy serves, and requires nested
# modules whose requirements are published, which they are only after a release.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
tag=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$tag" ]; then
  echo 'no release is tagged yet: nothing to compare with'
  exit 0
fi
work=$(mktemp -d)
trap 'git worktree remove --force "$work/old" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/old" "$tag"
apidiff=$(GOWORK=off go -C tools tool -n apidiff)

changed=
for folder in $(tools/modules.sh); do
  [ "$folder" = . ] || ! grep -q '^replace ' "$folder/go.mod" || continue
  [ -f "$work/old/$folder/go.mod" ] || continue # new since then
  # Package by package: what one module exports at once cannot be written any more.
  for package in $(tools/alone.sh "$folder" go list ./... | grep -v /internal/ || true); do
    (cd "$work/old" && tools/alone.sh "$folder" "$apidiff" -w "$work/export" "$package" 2>"$work/log") || {
      grep -q 'no required module\|is not in std\|no Go files' "$work/log" && continue # new since then
      cat "$work/log" >&2
      exit 2
    }
    tools/alone.sh "$folder" "$apidiff" "$work/export" "$package" >"$work/diff"
    if [ -s "$work/diff" ]; then echo "== $package" && cat "$work/diff"; fi
    ! grep -q '^Incompatible changes' "$work/diff" || changed=yes
  done
done
[ -z "$changed" ]
