//go:build ignore

// Generate writes package query; go generate runs it in the folder above.
package main

import (
	"gorm.io/gen"

	"github.com/seed-299c1d6b/snowkey/internal/integration/gormplugin/gen/model"
)

func main() {
	g := gen.NewGenerator(gen.Config{OutPath: "gen/query", Mode: gen.WithoutContext})
	g.ApplyBasic(model.Doc{})
	g.Execute()
}
