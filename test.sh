#!/usr/bin/env bash
# usage: ./test.sh [option]
#
# Installs what the tests need and this machine lacks (tools/install.sh: servers, a browser, a C compiler;
# no service is started), then for every Go module: format, vet, tidiness, a build without the workspace,
# lint, and all tests with the race detector against real servers. Go itself must be there.
#
#   --no-install    install nothing; say what is missing
#   --install-only  install, test nothing
#   --no-lint       leave out golangci-lint, which takes the longest to build
#   --no-browser    leave out the tests of web pages, which need Chromium: where there is
#                   neither Google Chrome nor a package of Chromium (Ubuntu has a snap)
#   --help          this text
#
# A server that runs already is used instead if SNOWKEY_TEST_POSTGRES, _MYSQL, _REDIS or _ETCD is set, and
# SNOWKEY_TEST_CHROMIUM is the path of another browser; see CONTRIBUTING.md.
# bin/check -run REGEXP repeats single steps; bin/check -list names them.
#
# Status: 0 all is well, 1 something failed or is missing, 2 a wrong option.
set -euo pipefail

fail() { echo "test.sh: $1" >&2 && exit "${2:-1}"; }

check='' test=yes steps=()
for option; do
  case $option in
    --no-install) check=--check ;;
    --install-only) test='' ;;
    --no-lint) steps+=(-skip ': lint$') ;;
    --no-browser) export SNOWKEY_TEST_CHROMIUM=none ;; # the tests know the word
    --help | -h) sed -n '2,/^set/{/^set/d;s/^#//;s/^ //;p;}' "$0" && exit ;;
    *) fail "unknown option '$option'; ./test.sh --help lists the options" 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")"
exec </dev/null # nothing may wait for an answer

# Go is checked first: without it, installing anything would be in vain. An older one may fetch a newer Go, once
# there are certificates.
if [ -n "$test" ]; then
  want="Go $(sed -n 's/^go //p' go.mod) or later is needed"
  [ -n "$(command -v go)" ] || [ ! -x /usr/local/go/bin/go ] || PATH=$PATH:/usr/local/go/bin
  command -v go >/dev/null || fail "$want, and there is no go in PATH; see https://go.dev/dl/"
  out=$(GOWORK=off GOTOOLCHAIN=local go list -m 2>&1) || [[ $(go env GOTOOLCHAIN) == [!l]* ]] ||
    fail "$want, and this is $(GOTOOLCHAIN=local go env GOVERSION): $out"
fi
tools/install.sh $check
# What checks documents and the page.
[ -n "$check" ] || npm ci --loglevel error --no-audit --no-fund --prefix tools/npm >/dev/null || fail 'npm could not install tools/npm'
[ -n "$test" ] || exit 0
# By its file: the tools' module may want a newer Go than the library does.
GOWORK=off go build -buildvcs=false -o bin/check tools/check/main.go
exec bin/check ${steps[@]+"${steps[@]}"}
