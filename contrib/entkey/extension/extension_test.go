package extension

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"entgo.io/ent"
	"entgo.io/ent/entc/gen"
	"entgo.io/ent/entc/load"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Row and Other are what keys are of.
type (
	Row        struct{}
	Other      struct{}
	hidden     struct{}
	Pair       [2]int
	Box[T any] struct{}
)

// table is a schema in a test.
type table struct {
	ent.Schema
	mixin  ent.Mixin
	fields []ent.Field
	edges  []ent.Edge
	index  []ent.Index
}

func (s table) Fields() []ent.Field { return s.fields }
func (s table) Edges() []ent.Edge   { return s.edges }
func (s table) Indexes() []ent.Index {
	return s.index
}

func (s table) Mixin() []ent.Mixin {
	if s.mixin == nil {
		return nil
	}
	return []ent.Mixin{s.mixin}
}

// Schemas of tests, by the names that edges use.
type (
	Parent struct{ table }
	Child  struct{ table }
)

func graph(t *testing.T, parent, child *table) *gen.Graph {
	t.Helper()
	var schemas []*load.Schema
	add := func(schema ent.Interface) {
		b, err := load.MarshalSchema(schema)
		must(t, err)
		s, err := load.UnmarshalSchema(b)
		must(t, err)
		schemas = append(schemas, s)
	}
	add(Parent{*parent})
	if child != nil {
		add(Child{*child})
	}
	storage, err := gen.NewStorage("sql")
	must(t, err)
	g, err := gen.NewGraph(&gen.Config{Package: "example.org/shop/db", Schema: "example.org/shop/schema", Target: t.TempDir(), Storage: storage, Features: []gen.Feature{gen.FeatureUpsert}}, schemas...)
	must(t, err)
	return g
}

var errGenerated = errors.New("generated")

// apply runs the extension before a generator that only reports that it was called.
func apply(t *testing.T, g *gen.Graph, exempt ...string) error {
	t.Helper()
	ext, err := New(Config{Exempt: exempt})
	must(t, err)
	err = ext.Hooks()[0](gen.GenerateFunc(func(*gen.Graph) error { return errGenerated })).Generate(g)
	if err == nil {
		t.Error("nothing was generated, without an error")
	}
	if err == errGenerated {
		return nil
	}
	return err
}

func fk(typ any) *table {
	return &table{mixin: entkey.Mixin{}, fields: []ent.Field{field.Int64("parent_id").GoType(typ)},
		edges: []ent.Edge{edge.From("parent", Parent.Type).Ref("children").Field("parent_id").Unique().Required()}}
}

func parent(mixin ent.Mixin) *table {
	return &table{mixin: mixin, edges: []ent.Edge{edge.To("children", Child.Type)}}
}

func TestCheck(t *testing.T) {
	const counts = "is auto-increment"
	id := func(f ent.Field) *table { return &table{fields: []ent.Field{f}} }
	with := func(f ent.Field) *table { return &table{mixin: entkey.Mixin{}, fields: []ent.Field{f}} }
	for name, c := range map[string]struct {
		parent, child *table
		exempt        []string
		want          []string // in the error; none is no error
	}{
		"the mixin":               {parent: with(field.String("name"))},
		"a typed mixin":           {parent: &table{mixin: entkey.Typed[Row]{}}},
		"no id":                   {parent: &table{}, want: []string{"Parent.id", counts, "entkey.Typed[Parent]"}},
		"no id, exempt":           {parent: &table{}, exempt: []string{"Parent"}},
		"an integer":              {parent: id(field.Uint32("id")), want: []string{"Parent.id", "this uint32"}},
		"a string":                {parent: id(field.String("id"))},
		"an ID without the mixin": {parent: id(field.Int64("id").GoType(sqltype.ID(0))), want: []string{"Parent.id", "without the mixin"}},
		"a Key without the mixin": {parent: id(field.Int64("id").GoType(sqltype.Key[Row](0)).Immutable()), exempt: []string{"Parent"}, want: []string{"without the mixin"}},
		"an unknown exemption":    {parent: with(field.String("name")), exempt: []string{"Absent"}, want: []string{`"Absent"`}},

		"a foreign key":                  {parent: parent(entkey.Typed[Row]{}), child: fk(sqltype.Key[Row](0))},
		"a foreign key of another type":  {parent: parent(entkey.Typed[Row]{}), child: fk(sqltype.Key[Other](0)), want: []string{"Child.parent_id", "want GoType(sqltype.Key[", "extension.Row])", "extension.Other]"}},
		"a foreign key that is an ID":    {parent: parent(entkey.Typed[Row]{}), child: fk(sqltype.ID(0)), want: []string{"Child.parent_id"}},
		"a foreign key that is a number": {parent: parent(entkey.Mixin{}), child: &table{mixin: entkey.Mixin{}, fields: []ent.Field{field.Int64("parent_id")}, edges: fk(sqltype.ID(0)).edges}, want: []string{"Child.parent_id", "want GoType(sqltype.ID), not int64"}},
		// ent finds rows by the type of the key.
		"a foreign key that is a NullKey": {parent: parent(entkey.Typed[Row]{}), child: &table{
			mixin: entkey.Mixin{}, fields: []ent.Field{field.Int64("parent_id").GoType(sqltype.NullKey[Row]{}).Optional()},
			edges: []ent.Edge{edge.From("parent", Parent.Type).Ref("children").Field("parent_id").Unique()},
		}, want: []string{"Child.parent_id", "Optional().Nillable()"}},

		"Optional":               {parent: with(field.Int64("other_id").GoType(sqltype.ID(0)).Optional()), want: []string{"Parent.other_id", "Nillable()", "sqltype.NullID"}},
		"Optional and Nillable":  {parent: with(field.Int64("other_id").GoType(sqltype.ID(0)).Optional().Nillable())},
		"a NullID":               {parent: with(field.Int64("other_id").GoType(sqltype.NullID{}).Optional())},
		"a NullKey":              {parent: with(field.Int64("other_id").GoType(sqltype.NullKey[Row]{}).Optional())},
		"a NullID that is set":   {parent: with(field.Int64("other_id").GoType(sqltype.NullID{})), want: []string{"needs Optional()"}},
		"a pointer to a NullID":  {parent: with(field.Int64("other_id").GoType(sqltype.NullID{}).Optional().Nillable()), want: []string{"without Nillable()"}},
		"all faults":             {parent: &table{edges: parent(nil).edges, fields: []ent.Field{field.Int64("other_id").GoType(sqltype.ID(0)).Optional()}}, child: &table{edges: fk(nil2).edges, fields: []ent.Field{field.Int("parent_id")}}, want: []string{"Parent.id", "Parent.other_id", "Child.id"}},
		"a type that is hidden":  {parent: &table{mixin: entkey.Typed[hidden]{}}, want: []string{"Parent.id", "must be exported"}},
		"a type with parameters": {parent: &table{mixin: entkey.Typed[Box[int]]{}}, want: []string{"Parent.id", "without parameters"}},
		"a pointer":              {parent: &table{mixin: entkey.Typed[*Row]{}}, want: []string{"Parent.id", "without parameters and pointers"}},
		"a type of no package":   {parent: &table{mixin: entkey.Typed[int]{}}, want: []string{"Parent.id", "must be a type of a package"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := apply(t, graph(t, c.parent, c.child), c.exempt...)
			if (err == nil) != (c.want == nil) {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v; want %s", err, want)
				}
			}
		})
	}
}

var nil2 = sqltype.ID(0)

func TestIndexes(t *testing.T) {
	for name, c := range map[string]struct {
		child *table
		want  []string
	}{
		"none":          {fk(sqltype.ID(0)), []string{"child_parent_id"}},
		"its own":       {&table{mixin: entkey.Mixin{}, fields: fk(nil2).fields, edges: fk(nil2).edges, index: []ent.Index{index.Fields("parent_id").StorageKey("mine")}}, []string{"mine"}},
		"the first":     {&table{mixin: entkey.Mixin{}, fields: fk(nil2).fields, edges: fk(nil2).edges, index: []ent.Index{index.Fields("parent_id", "id").StorageKey("two")}}, []string{"two"}},
		"the second":    {&table{mixin: entkey.Mixin{}, fields: fk(nil2).fields, edges: fk(nil2).edges, index: []ent.Index{index.Fields("id", "parent_id").StorageKey("two")}}, []string{"two", "child_parent_id"}},
		"not a field":   {&table{mixin: entkey.Mixin{}}, []string{"child_parent_children"}},
		"unique itself": {&table{mixin: entkey.Mixin{}, fields: []ent.Field{field.Int64("parent_id").GoType(nil2).Unique()}, edges: fk(nil2).edges}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph(t, parent(entkey.Mixin{}), c.child)
			must(t, apply(t, g))
			var got []string
			for _, n := range g.Nodes {
				for _, i := range n.Indexes {
					got = append(got, i.Name)
				}
			}
			if strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Without the extension, ent cannot format what it generates for a typed key.
func TestNames(t *testing.T) {
	schemas := func() (*table, *table) {
		child := fk(sqltype.Key[Row](0))
		child.fields = append(child.fields, field.Int64("other_id").GoType(sqltype.NullKey[Other]{}).Optional())
		return parent(entkey.Typed[Row]{}), child
	}
	p, c := schemas()
	if err := graph(t, p, c).Gen(); err == nil || !strings.Contains(err.Error(), "format file") {
		t.Errorf("without the extension: %v", err)
	}
	g := graph(t, p, c)
	must(t, apply(t, g))
	file := filepath.Join(g.Target, "key", "key.go")
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	must(t, err)
	text, err := os.ReadFile(file)
	must(t, err)
	for _, want := range []string{"\ntype Row = sqltype.Key[", "\ntype NullRow = sqltype.NullKey[", "\ntype Other = sqltype.Key[", "\n// NullOther is an Other or NULL.\ntype NullOther ="} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if parsed.Name.Name != "key" || len(parsed.Imports) != 2 {
		t.Errorf("package %s imports %d", parsed.Name, len(parsed.Imports))
	}
	if err := g.Gen(); err != nil {
		t.Error(err)
	}
}

func TestSameName(t *testing.T) {
	one := map[string]string{"a": "sqltype.Key[example.org/a.Row]", "b": "sqltype.Key[example.org/b.Row]"}
	g := graph(t, parent(entkey.Typed[Row]{}), &table{mixin: entkey.Typed[Other]{}})
	for i, name := range []string{"a", "b"} {
		g.Nodes[i].ID.Type.RType.Ident = one[name]
	}
	if err := apply(t, g); err == nil || !strings.Contains(err.Error(), "same name") {
		t.Error(err)
	}
}

// Ids that MySQL would number are no numbers to ent, whose fields are as they were.
func TestNumbersAreHidden(t *testing.T) {
	g := graph(t, parent(entkey.Mixin{}), fk(sqltype.ID(0)))
	must(t, apply(t, g))
	for _, n := range g.Nodes {
		if column := n.ID.PK(); n.ID.Type.Numeric() || column.Increment || column.SchemaType["mysql"] != "bigint" {
			t.Errorf("%s: %+v", n.Name, column)
		}
		for _, f := range n.Fields {
			if f.Type.Type != field.TypeInt64 {
				t.Errorf("%s.%s is %v", n.Name, f.Name, f.Type.Type)
			}
		}
	}
	plain := graph(t, &table{}, nil)
	if err := apply(t, plain, "Parent"); err != nil || !plain.Nodes[0].ID.PK().Increment {
		t.Errorf("an exempt id is %+v, %v", plain.Nodes[0].ID.PK(), err)
	}
}

func TestBadConfig(t *testing.T) {
	for _, exempt := range [][]string{{""}, {"A", "B", "A"}} {
		_, err := New(Config{Exempt: exempt})
		var wrong *core.ConfigError
		if !errors.As(err, &wrong) || wrong.Fields[0].Field != "Exempt" {
			t.Errorf("%q: %v", exempt, err)
		}
	}
}

func TestErrorsOfFiles(t *testing.T) {
	g := graph(t, &table{mixin: entkey.Typed[Row]{}}, nil)
	g.Target = filepath.Join(g.Target, "file")
	must(t, os.WriteFile(g.Target, nil, 0o600))
	if err := apply(t, g); err == nil {
		t.Error("a file in place of the folder")
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
