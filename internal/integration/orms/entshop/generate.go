//go:build ignore

// Generate writes package db from package schema.
package main

import (
	"log"
	"os"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey/extension"
)

func main() {
	target := "./entshop/db"
	if len(os.Args) > 1 { // a test compares
		target = os.Args[1]
	}
	ext, err := extension.New(extension.Config{Exempt: []string{"Label"}})
	if err == nil {
		err = entc.Generate("./entshop/schema", &gen.Config{
			Target:   target,
			Package:  "github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db",
			Features: []gen.Feature{gen.FeatureUpsert},
		}, entc.Extensions(ext))
	}
	if err != nil {
		log.Fatal(err)
	}
}
