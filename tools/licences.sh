#!/usr/bin/env bash
# usage: tools/licences.sh FOLDER...
#
# Checks the licence of each module that the packages in FOLDER..., modules of this
# repository, and their tests are built from. Allowed are licences that only require
# attribution; MPL-2.0 also covers changes to its own files, of which there are none.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
check=$(GOWORK=off go -C "$root/tools" tool -n go-licenses)
for folder in "$@"; do
  (cd "$root/$folder" && "$check" check --include_tests \
    --ignore "$(sed -n 's/^module //p' "$root/go.mod")" \
    --allowed_licenses MIT,MIT-0,BSD-2-Clause,BSD-3-Clause,0BSD,ISC,Apache-2.0,MPL-2.0,Zlib,Unlicense,CC0-1.0,Unicode-DFS-2016 ./... 2>&1) |
    (grep -v '^[WE][0-9]\|\.[sSch]$' || true)
  echo "$folder"
done
