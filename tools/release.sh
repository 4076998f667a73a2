#!/usr/bin/env bash
# usage: tools/release.sh VERSION            rehearses: nothing is changed and nothing leaves this machine
#        tools/release.sh --write VERSION    writes the requirements of the nested modules into this tree
#
# The root is tagged first, then the modules that require it, each after those that it
# requires itself; tools/README.md has the steps. The rehearsal does them in a copy, with
# a folder in place of the proxy, and uses what came out of it as a user would.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
base=$(sed -n 's/^module //p' "$root/go.mod")

write=
if [ "${1:-}" = --write ]; then write=yes && shift; fi
if [ $# -ne 1 ] || ! [[ $1 =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
  sed -n '2,3s/^# //p' "$0" >&2 && exit 2
fi
version=$1

# The published modules: those without a replace, each after those it requires.
published() {
  local folder
  echo .
  for folder in $("$root/tools/modules.sh"); do
    [ "$folder" = . ] || grep -q '^replace ' "$root/$folder/go.mod" || echo "$(grep -c "^[^/]*$base/" "$root/$folder/go.mod" || true) ${folder#./}"
  done | sort -n | sed 's/^[0-9]* //'
}

# requirements FOLDER: those of this repository's modules, at the version.
requirements() {
  local name
  for name in $(cd "$1" && GOWORK=off go mod edit -json | sed -n "s|.*\"Path\": \"\(${base}[^\"]*\)\".*|\1|p" | sort -u); do
    [ "$name" = "$(sed -n 's/^module //p' "$1/go.mod")" ] || (cd "$1" && GOWORK=off go mod edit -require="$name@$version")
  done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git -C "$root" diff --quiet HEAD || echo 'release.sh: what is not committed is left out' >&2
mkdir "$work/tree"
git -C "$root" archive HEAD | tar -x -C "$work/tree"
GOWORK=off go -C "$root/tools" build -o "$work/modproxy" ./modproxy

# The folder first, for what is ours; then what was fetched before, and where modules come
# from otherwise. A separate cache: the version is not the one that will be released.
GOPROXY="file://$work/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)"
export GOPROXY GOMODCACHE=$work/cache GONOSUMDB="$base,$base/*" GOFLAGS='-buildvcs=false -modcacherw' GOWORK=off
for folder in $(published); do
  name=$base
  [ "$folder" = . ] || name=$base/$folder
  dir=$work/tree/$folder
  requirements "$dir"
  # go.sum gets the sums of what has just been published.
  [ "$folder" = . ] || (cd "$dir" && go mod tidy)
  (cd "$dir" && go vet ./... && go mod verify >/dev/null)
  "$work/modproxy" "$work/proxy" "$name" "$version" "$dir"
  echo "published $name@$version"
  if [ -n "$write" ] && [ "$folder" != . ]; then
    cp "$dir/go.mod" "$dir/go.sum" "$root/$folder/"
  fi
done

# As a user: the README's program, and the commands.
mkdir "$work/user" && cd "$work/user"
go mod init example.com/user >/dev/null 2>&1
for folder in $(published); do
  name=$base/$folder
  [[ $folder == cmd/* ]] || go get -v "${name%/.}@$version"
done
cp "$work/tree/examples/first/main.go" .
go mod tidy
go run .
GOBIN=$work/bin go install "$base/contrib/lint/cmd/snowkeylint@$version"
"$work/bin/snowkeylint" ./...
# The README says @latest, which is the newest that is not a pre-release.
query=latest
[[ $version != *-* ]] || query=$version
GOBIN=$work/bin go install "$base/cmd/snowkey@$query"
"$work/bin/snowkey" --version | tee "$work/version"
grep -qF "snowkey version $version," "$work/version"
"$root/tools/binaries.sh" "$version" "$work/dist" linux/arm64 # one other platform: the release builds all
echo "$version can be released"
if [ -n "$write" ]; then
  echo 'Commit what was written, then:'
  for folder in $(published); do [ "$folder" = . ] || echo "git tag $folder/$version"; done
fi
