package gormplugin_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/databases"
)

// graphCase is one row of the generated table.
type graphCase struct {
	relations []string // of each level, one of which is taken in turn
	elements  int      // in a list
	shared    bool     // what can be shared by pointer is
	keys      string   // zero, set, mixed, existing
	seed      uint64   // not zero: relations are drawn from it
}

func (c graphCase) String() string {
	return fmt.Sprintf("%s,%d,shared=%t,%s,%d", strings.Join(c.relations, "+"), c.elements, c.shared, c.keys, c.seed)
}

var everyRelation = []string{"BelVal", "BelPtr", "OneVal", "OnePtr", "ManyVal", "ManyPtr", "JoinVal", "JoinPtr", "PolyOne", "PolyMany"}

func graphCases() (cases []graphCase) {
	for _, keys := range []string{"zero", "set", "mixed", "existing"} {
		for _, rel := range everyRelation {
			cases = append(cases, graphCase{relations: []string{rel}, elements: 2, keys: keys})
			if strings.HasSuffix(rel, "Ptr") {
				cases = append(cases, graphCase{relations: []string{rel}, elements: 2, keys: keys, shared: true})
			}
		}
		cases = append(cases,
			graphCase{keys: keys}, // no associations at all: nil pointers and nil lists
			graphCase{relations: everyRelation, elements: 0, keys: keys},
			graphCase{relations: everyRelation, elements: 1, keys: keys},
		)
		for seed := range uint64(4) {
			cases = append(cases, graphCase{relations: everyRelation, elements: 2, keys: keys, seed: seed + 1, shared: seed%2 == 1})
		}
	}
	return cases
}

// builder makes the graph of a case. Made twice, it is the same.
type builder struct {
	graphCase
	rnd    *rand.Rand
	rows   int
	shares map[string]reflect.Value // a pointer for each relation of a level
}

func (c graphCase) build() []LevelA {
	b := &builder{graphCase: c, rnd: rand.New(rand.NewPCG(c.seed, 1)), shares: map[string]reflect.Value{}}
	parents := make([]LevelA, 2)
	for i := range parents {
		b.fill(reflect.ValueOf(&parents[i]).Elem(), fmt.Sprintf("A%d", i))
	}
	return parents
}

func (b *builder) fill(row reflect.Value, label string) {
	b.rows++
	row.FieldByName("Label").SetString(label)
	if b.keys == "set" || b.keys == "existing" || b.keys == "mixed" && b.rows%2 == 0 {
		row.FieldByName("ID").SetInt(int64(1000 + b.rows))
	}
	if row.Type() == reflect.TypeFor[LevelD]() {
		if d := row.Addr().Interface().(*LevelD); len(label) < 40 && b.elements == 2 {
			for i := range 2 {
				child := &LevelD{}
				b.fill(reflect.ValueOf(child).Elem(), label+strings.Repeat(".", 40-len(label))+fmt.Sprint(i))
				d.Children = append(d.Children, child)
			}
		}
		return
	}
	for _, rel := range b.relations {
		if b.seed != 0 && b.rnd.IntN(3) > 0 {
			continue
		}
		if b.rows > 150 {
			return
		}
		f, path := row.FieldByName(rel), label+"/"+rel
		if len(path) > 38 {
			path = fmt.Sprintf("%s/%d", row.Type().Name(), b.rows)
		}
		switch f.Kind() {
		case reflect.Struct:
			b.fill(f, path)
		case reflect.Pointer:
			f.Set(b.pointer(f.Type(), row, rel, path))
		case reflect.Slice:
			for i := range b.elements {
				if f.Type().Elem().Kind() == reflect.Pointer {
					f.Set(reflect.Append(f, b.pointer(f.Type().Elem(), row, rel+fmt.Sprint(i), path+fmt.Sprint(i))))
					continue
				}
				elem := reflect.New(f.Type().Elem()).Elem()
				b.fill(elem, path+fmt.Sprint(i))
				f.Set(reflect.Append(f, elem))
			}
		}
	}
}

// pointer makes a row, or returns the one that another parent has in the same relation.
func (b *builder) pointer(t reflect.Type, row reflect.Value, rel, path string) reflect.Value {
	relation := row.Type().Name() + rel
	if p, ok := b.shares[relation]; ok && b.shared {
		return p
	}
	p := reflect.New(t.Elem())
	b.shares[relation] = p
	b.fill(p.Elem(), path)
	return p
}

// visitLevels calls f once for every distinct row below v.
func visitLevels(v reflect.Value, seen map[uintptr]bool, f func(row reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visitLevels(v.Elem(), seen, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visitLevels(v.Index(i), seen, f)
		}
	case reflect.Struct:
		if !strings.HasPrefix(v.Type().Name(), "Level") || v.FieldByName("Label").String() == "" || seen[v.Addr().Pointer()] {
			return
		}
		seen[v.Addr().Pointer()] = true
		f(v)
		for i := range v.NumField() {
			if k := v.Field(i).Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Struct {
				visitLevels(v.Field(i), seen, f)
			}
		}
	}
}

// dumpLevels returns what the tables hold, with each key given by the label of its row. It checks
// that each struct of the parents, if they are given, holds the key of the row with its label.
func dumpLevels(t *testing.T, db *gorm.DB, parents []LevelA) (lines []string) {
	t.Helper()
	labels, tables := map[int64]string{}, map[string][]map[string]any{}
	for _, table := range levelTables {
		var rows []map[string]any
		must(t, db.Table(table).Find(&rows).Error)
		tables[table] = rows
		for _, row := range rows {
			if label, ok := row["label"]; ok {
				id := row["id"].(int64)
				if labels[id] != "" || id == 0 {
					t.Errorf("the key %d is of %v and of %s", id, label, labels[id])
				}
				labels[id] = label.(string)
			}
		}
	}
	for table, rows := range tables {
		for _, row := range rows {
			line := table
			for _, column := range slices.Sorted(maps.Keys(row)) {
				value := row[column]
				if id, ok := value.(int64); ok {
					if value = labels[id]; value == "" {
						t.Errorf("%s.%s has the key %d, of which there is no row", table, column, id)
					}
				}
				line += fmt.Sprintf(" %s=%v", column, value)
			}
			lines = append(lines, line)
		}
	}
	visitLevels(reflect.ValueOf(parents), map[uintptr]bool{}, func(row reflect.Value) {
		if label, id := row.FieldByName("Label").String(), row.FieldByName("ID").Int(); strings.TrimSuffix(labels[id], "*") != label {
			t.Errorf("%s holds the key %d, which %q has", label, id, labels[id])
		}
	})
	slices.Sort(lines)
	return lines
}

// inRollback runs f in a transaction that is rolled back.
func inRollback(t *testing.T, db *gorm.DB, f func(tx *gorm.DB)) {
	t.Helper()
	undo := errors.New("undo")
	if err := db.Transaction(func(tx *gorm.DB) error { f(tx); return undo }); !errors.Is(err, undo) {
		t.Fatal(err)
	}
}

// Every association written with the plugin leaves the same rows as plain gorm whose keys
// were all set by hand. SQLite runs every case, and of the servers' usual modes one runs the odd
// and one the even ones. The modes that are not usual share the cases: each runs every fourth
// one, and the next mode begins one further.
func TestGraphsAsPlainGorm(t *testing.T) {
	var turn, server atomic.Int64
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		first, step := 0, 1
		switch {
		case !d.Usual:
			first, step = int(turn.Add(1)%4), 4
		case d.Name != "sqlite":
			first, step = int(server.Add(1)%2), 2
		}
		plain := databases.Handle(t, d)
		// The levels refer to one another in both directions: tables first, then constraints.
		plain.DisableForeignKeyConstraintWhenMigrating = d.Name != "sqlite"
		for range 2 {
			must(t, plain.AutoMigrate(levels()...))
			plain.DisableForeignKeyConstraintWhenMigrating = false
		}
		filled := databases.Handle(t, d, fillPlugin(databases.Generator(t, 1), levels()...))
		for i, c := range graphCases() {
			if i%step != first {
				continue
			}
			t.Run(c.String(), func(t *testing.T) {
				existing := func(tx *gorm.DB) { // the deepest rows are there already, under other labels
					if c.keys != "existing" {
						return
					}
					var old []LevelD
					visitLevels(reflect.ValueOf(c.build()), map[uintptr]bool{}, func(row reflect.Value) {
						if d, ok := row.Addr().Interface().(*LevelD); ok && len(d.Label) < 40 {
							old = append(old, LevelD{ID: d.ID, Label: d.Label + "*"})
						}
					})
					if len(old) > 0 {
						must(t, tx.Create(&old).Error)
					}
				}
				var want []string
				rows := 0
				inRollback(t, plain, func(tx *gorm.DB) {
					existing(tx)
					byHand := c.build()
					visitLevels(reflect.ValueOf(byHand), map[uintptr]bool{}, func(row reflect.Value) {
						if rows++; row.FieldByName("ID").Int() == 0 {
							row.FieldByName("ID").SetInt(int64(rows))
						}
					})
					// PostgreSQL refuses a has-one row that two parents share, if its key is set.
					if err := tx.Create(&byHand).Error; err == nil {
						want = dumpLevels(t, tx, byHand)
					} else if d.Name != "postgres" || !c.shared || !strings.Contains(err.Error(), "21000") {
						t.Fatalf("plain gorm: %v", err)
					}
				})
				if want != nil && len(want) < rows || rows < 2 || rows > 500 {
					t.Fatalf("%d rows of %d", len(want), rows)
				}
				inRollback(t, filled, func(tx *gorm.DB) {
					existing(tx)
					parents := c.build()
					if err := tx.Create(&parents).Error; err != nil && want != nil {
						t.Fatal(err)
					} else if err != nil {
						return
					}
					if got := dumpLevels(t, tx, parents); want != nil && !slices.Equal(got, want) {
						t.Fatalf("%s\nplain gorm:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				})
			})
		}
	})
}
