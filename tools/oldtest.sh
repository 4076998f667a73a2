#!/usr/bin/env bash
# usage: tools/oldtest.sh COMMIT FOLDER
#
# Builds the test binary of the package FOLDER as it was at COMMIT, with the versions
# that its module asked for then, and prints its path. It is kept in bin/old. A FOLDER
# that COMMIT lacks is that of now: a test of today on the code of then.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -ne 2 ]; then
  echo 'usage: tools/oldtest.sh COMMIT FOLDER' >&2
  exit 2
fi
commit=$1 folder=${2#./}

fail() {
  echo "oldtest.sh: $*" >&2
  exit 1
}

cd "$root"
git rev-parse --git-dir >/dev/null || fail "an older build needs this repository's history, and git finds none in $root"
if ! full=$(git rev-parse --verify --quiet "$commit^{commit}"); then
  hint=''
  [ "$(git rev-parse --is-shallow-repository)" != true ] || hint='; this clone is shallow: git fetch --unshallow'
  fail "there is no commit '$commit' in this clone$hint"
fi
binary=$root/bin/old/${full:0:12}/$(basename "$folder").test
today=''
if ! git cat-file -e "$full:$folder" 2>/dev/null; then
  [ -d "$folder" ] || fail "there is no $folder, at commit '$commit' or now"
  today=yes
fi
if [ -n "$today" ] || [ ! -x "$binary" ]; then
  tree=$(mktemp -d)
  trap 'rm -rf "$tree"' EXIT
  git archive "$full" | tar x -C "$tree"
  if [ -n "$today" ]; then
    mkdir -p "$(dirname "$tree/$folder")"
    cp -r "$folder" "$tree/$folder"
  fi
  module=$folder
  while [ ! -f "$tree/$module/go.mod" ]; do module=$(dirname "$module"); done
  mkdir -p "$(dirname "$binary")"
  # Under another name until it is whole.
  "$tree/tools/alone.sh" "$module" go test -c -buildvcs=false -o "$binary.new" "./${folder#"$module"/}" >&2
  mv "$binary.new" "$binary"
fi
echo "$binary"
