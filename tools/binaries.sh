#!/usr/bin/env bash
# usage: tools/binaries.sh VERSION FOLDER [OS/ARCH...]
#
# Writes an archive per platform into FOLDER, with the command and its completions, and
# SHA256SUMS. The command is built from the published module of that version, as go install
# does, so anybody gets the same bytes with the same Go. On a platform other than those given
# there is go install.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ $# -ge 2 ] || { sed -n '2s/^# //p' "$0" >&2 && exit 2; }
version=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 freebsd/amd64
command=$(sed -n 's/^module //p' "$root/cmd/snowkey/go.mod")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$work"
GOMODCACHE=$(go env GOMODCACHE)
export GOMODCACHE GOWORK=off CGO_ENABLED=0
# build OS ARCH FOLDER: go install puts other platforms into bin/OS_ARCH, unless GOBIN is set.
build() {
  GOBIN='' GOPATH=$work/go GOOS=$1 GOARCH=$2 go install -trimpath -ldflags='-s -w' "$command@$version"
  mkdir -p "$3"
  find "$work/go/bin" -type f -exec mv {} "$3" \;
}

# The completions are the same everywhere; this machine's command writes them.
build "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" host
mkdir completions
for shell in bash zsh fish powershell; do
  host/snowkey completion "$shell" >"completions/snowkey.$shell"
done
for platform; do
  name=snowkey_${version}_${platform%/*}_${platform#*/}
  build "${platform%/*}" "${platform#*/}" "$name"
  cp -R "$root/LICENSE" completions "$name"
  # The same bytes each time: no times, no owners.
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c "$name" | gzip -n9 >"$out/$name.tar.gz"
done
cd "$out"
sha256sum "snowkey_${version}_"*.tar.gz >SHA256SUMS
cat SHA256SUMS
