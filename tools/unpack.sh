#!/usr/bin/env bash
# usage: tools/unpack.sh SUITE PACKAGE...     as in: tools/unpack.sh sid mysql-server-core
#
# Unpacks packages of another suite of Debian, with all that they depend on, into a
# folder in bin/debian, and prints the folder that holds their programs. Nothing is
# installed and no root is needed: the programs run with the C library that was unpacked
# beside them, so that a server of unstable runs on an older release. Both come from the
# mirror that apt uses here, or from SNOWKEY_DEBIAN_MIRROR, and are verified by Debian's
# keys.
#
# What was unpacked once is used again; `make clean` removes it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ $# -ge 2 ] || { sed -n '2s/^# //p' "$0" >&2 && exit 2; }
suite=$1 packages=${*:2}
shift
folder=$root/bin/debian/$suite/${packages// /+}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
  printf 'unpack.sh: %s\n' "$*" >&2
  exit 1
}

[ ! -d "$folder" ] || { echo "$folder/usr/bin" && exit; }
type -P apt-get dpkg-deb >/dev/null || fail "there is no apt-get or dpkg-deb here, so $packages cannot be had"
[ -r "$keyring" ] || fail "there is no $keyring (package debian-archive-keyring) to verify $packages by"

mirror=${SNOWKEY_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
  sed -n '\,/debian/*$,{p;q}')}
[ -n "$mirror" ] || fail "apt has no mirror of Debian here; name one by SNOWKEY_DEBIAN_MIRROR"

# A separate apt, for which no package is installed yet: it fetches the C library too.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,archives/partial,etc/{sources.list.d,preferences.d,apt.conf.d}}
: >"$work/status"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/etc/sources.list"
fetch() {
  LC_ALL=C apt-get -q -o Dir::Etc="$work/etc" -o Dir::State="$work" -o Dir::State::Lists="$work/lists" \
    -o Dir::State::Status="$work/status" -o Dir::Cache="$work" -o Dir::Cache::Archives="$work/archives" \
    -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false \
    -o Acquire::Languages=none -o Acquire::Retries=3 "$@" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "apt-get $* did not succeed"
  }
}
echo "Fetching $packages of $suite" >&2
fetch -o APT::Update::Error-Mode=any update
fetch install -y --download-only "$@"

# Under another name until it is whole.
rm -rf "$folder.new"
mkdir -p "$folder.new"
for archive in "$work"/archives/*.deb; do dpkg-deb --extract "$archive" "$folder.new"; done

# A program finds neither its loader nor its libraries in the folder, so it gets a script
# in its place that names both. The loader has the program's name, by which processes are
# listed. Servers move to the folder of the other programs.
cd "$folder.new"
loader=$(find . -name 'ld-linux*.so.*' | head -n 1)
[ -n "$loader" ] || fail "$packages came without a loader of programs"
libraries=$(find . -name 'lib*.so.*' -printf '$r/%P\n' | sed 's,/[^/]*$,,' |
  grep -E '^\$r/(usr/)?lib(/[^/]+-linux-[^/]+)?(/mysql-router|(/mysql)?/private)?$' | sort -u | paste -sd:)
mkdir -p usr/{bin,sbin,programs,loaders}
find usr/sbin -mindepth 1 -exec mv -t usr/bin {} +
rmdir usr/sbin
ln -s bin usr/sbin # where mariadb-install-db looks
for program in usr/bin/*; do
  if [ -L "$program" ] || [ "$(head -c 4 "$program")" != $'\177ELF' ]; then continue; fi
  name=${program##*/}
  mv "$program" "usr/programs/$name"
  ln "$(readlink -f "$loader")" "usr/loaders/$name"
  cat >"$program" <<SCRIPT
#!/bin/sh
r=\$(dirname "\$(readlink -f "\$0")")/../..
exec "\$r/usr/loaders/$name" --argv0 "\$0" --library-path "$libraries" "\$r/usr/programs/$name" "\$@"
SCRIPT
  chmod 755 "$program"
done
cd "$root"
rm -rf "$folder"
mv "$folder.new" "$folder"
echo "$folder/usr/bin"
