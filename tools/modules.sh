#!/usr/bin/env bash
# Prints the folder of every Go module in the repository, the root first, one a line.
# tools is left out: it holds no code. So are the folders that go itself leaves out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
find . \( -name '.?*' -o -name '_*' -o -name testdata -o -path ./tools \) -prune \
  -o -name go.mod -print | sed 's|/go\.mod$||' | LC_ALL=C sort
