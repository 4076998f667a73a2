#!/usr/bin/env bash
# usage: tools/tidb.sh
#
# Builds tidb-server from Go's module proxy into bin/servers, and prints its folder: ten
# minutes of two processors. Nothing is installed. What was built once is used again;
# `make clean` removes it.
set -euo pipefail
version=20251126154744-e4e814fdc0af # of November 2025: no module path has the major version of its tags
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bin/servers/tidb-$version
if [ ! -d "$folder" ]; then
  export GOWORK=off GOFLAGS=-mod=mod
  source=$(cd / && go mod download -json "github.com/pingcap/tidb@v1.1.0-beta.0.$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  # Its go.mod replaces the parser by a folder, which is a module and so not in the download.
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cp "$source"/go.{mod,sum} "$work"
  chmod u+w "$work"/*
  parser=github.com/pingcap/tidb/pkg/parser
  go mod edit -replace "$parser=$parser@v0.0.0-$version" "$work/go.mod"
  rm -rf "$folder.new"
  (cd "$source" && go build -modfile="$work/go.mod" -o "$folder.new/" ./cmd/tidb-server) >&2
  mv "$folder.new" "$folder"
fi
echo "$folder"
