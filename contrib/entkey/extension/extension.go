// Package extension checks and completes schemas with Snowflake keys while ent generates code. It is
// for the program that go generate runs:
//
//	ext, err := extension.New(extension.Config{})
//	...
//	err = entc.Generate("./schema", &gen.Config{Target: "./db", Package: "example.org/shop/db"}, entc.Extensions(ext))
//
// Generating code fails, with all mistakes in one error, if
//
//   - an id is an auto-increment integer, because the schema has no mixin of package entkey;
//   - an id of type sqltype.ID or sqltype.Key is declared without the mixin;
//   - the type of a foreign key is not that of the key it refers to;
//   - a key that may be NULL is Optional but not Nillable, or has a type that cannot hold NULL.
//
// The extension completes the schemas:
//
//   - Each foreign key without an index gets one.
//   - ent cannot write the names of generic types. So the extension writes package key next to the
//     generated code, with an alias for each type of key, such as key.Order for
//     sqltype.Key[schema.Order].
//   - On MySQL and MariaDB, ent no longer treats keys as auto-increment integers. Otherwise the structs
//     of a bulk create would get the keys 0, 1 and so on, their children would refer to those, and the
//     ID of an upsert would be the struct's key instead of the row's. With the extension, the ID of
//     an upsert is an error there: use Exec, and read the row by its unique column.
package extension

import (
	"errors"
	"fmt"
	"slices"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
	"entgo.io/ent/schema/field"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Config configures an Extension. The zero value checks all schemas.
type Config struct {
	// Exempt lists schemas, such as "Setting", whose ids may be auto-increment integers.
	Exempt []string
}

// Extension is an entc.Extension. Make it with New.
type Extension struct {
	entc.DefaultExtension
	exempt []string
}

// New returns an Extension. The error is a core.ConfigError if Exempt has an empty name, or the same
// name twice. If no schema has a name of Exempt, generating code fails.
func New(config Config) (*Extension, error) {
	exempt := slices.Sorted(slices.Values(config.Exempt))
	var wrong []core.FieldError
	for i, name := range exempt {
		switch {
		case name == "":
			wrong = append(wrong, core.FieldError{Field: "Exempt", Value: `""`, Reason: "must be the name of a schema"})
		case i > 0 && exempt[i-1] == name:
			wrong = append(wrong, core.FieldError{Field: "Exempt", Value: fmt.Sprintf("%q", name), Reason: "is listed twice"})
		}
	}
	if wrong != nil {
		return nil, &core.ConfigError{Package: "extension", Fields: wrong}
	}
	return &Extension{exempt: exempt}, nil
}

// Hooks returns the hook that checks and completes the schemas.
func (e *Extension) Hooks() []gen.Hook {
	return []gen.Hook{func(next gen.Generator) gen.Generator {
		return gen.GenerateFunc(func(g *gen.Graph) error {
			if err := e.check(g); err != nil {
				return err
			}
			hideNumbers(g)
			addIndexes(g)
			if err := nameKeys(g); err != nil {
				return err
			}
			return next.Generate(g)
		})
	}}
}

// check returns all faults.
func (e *Extension) check(g *gen.Graph) error {
	var faults []error
	known := map[string]bool{}
	for _, node := range g.Nodes {
		known[node.Name] = true
		if node.HasOneFieldID() {
			if fault := checkID(node, slices.Contains(e.exempt, node.Name)); fault != nil {
				faults = append(faults, fmt.Errorf("extension: %s.%s: %w", node.Name, node.ID.Name, fault))
			}
		}
		for _, f := range node.Fields {
			if fault := checkField(f); fault != nil {
				faults = append(faults, fmt.Errorf("extension: %s.%s: %w", node.Name, f.Name, fault))
			}
		}
	}
	for _, name := range e.exempt {
		if !known[name] {
			faults = append(faults, fmt.Errorf("extension: Config.Exempt: no schema is named %q", name))
		}
	}
	return errors.Join(faults...)
}

// hideNumbers makes ent treat keys as it treats UUIDs, which it does not replace by LAST_INSERT_ID.
func hideNumbers(g *gen.Graph) {
	for _, node := range g.Nodes {
		if node.HasOneFieldID() && isKey(goType(node.ID)) {
			node.ID.Type.Type = field.TypeOther
		}
	}
}
