#!/usr/bin/env bash
# usage: tools/vitess.sh
#
# Builds three programs of Vitess from Go's module proxy into bin/servers, and prints their
# folder. Nothing is installed. What was built once is used again; `make clean` removes it.
set -euo pipefail
version=v0.24.4 # the first that knows MySQL 9
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bin/servers/vitess-$version
if [ ! -d "$folder" ]; then
  export GOWORK=off GOFLAGS=
  source=$(cd / && go mod download -json "vitess.io/vitess@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  # Not by go install: that refuses the exclude directives of its go.mod.
  rm -rf "$folder.new"
  (cd "$source" && go build -o "$folder.new/" ./go/cmd/vtgate ./go/cmd/vttablet ./go/cmd/vtctldclient) >&2
  mv "$folder.new" "$folder"
fi
echo "$folder"
