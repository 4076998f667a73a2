//go:build ignore

// Generate writes db from schema. The extension checks the keys.
package main

import (
	"log"
	"os"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey/extension"
)

func main() {
	target := "./db"
	if len(os.Args) > 1 { // a test compares
		target = os.Args[1]
	}
	ext, err := extension.New(extension.Config{})
	if err == nil {
		err = entc.Generate("./schema", &gen.Config{
			Target:  target,
			Package: "github.com/seed-299c1d6b/snowkey/examples/ent/db",
		}, entc.Extensions(ext))
	}
	if err != nil {
		log.Fatal(err)
	}
}
