// Command snowkeylint reports mistakes in the use of snowkey.
//
//	snowkeylint ./...
//	snowkeylint help snowjson
//	go vet -vettool=$(which snowkeylint) ./...
//
// See package lint, and docs/testing.md of the repository.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/seed-299c1d6b/snowkey/contrib/lint"
)

func main() { multichecker.Main(lint.Analyzers()...) }
