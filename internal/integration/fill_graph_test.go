package integration

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
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

// size is how many rows the graph has, and how many of them are of the last level.
func (c graphCase) size() (rows, last int) {
	visitLevels(reflect.ValueOf(c.build()), map[uintptr]bool{}, func(row reflect.Value) {
		rows++
		if row.Type() == reflect.TypeFor[LevelD]() {
			last++
		}
	})
	return rows, last
}

// Every kind of association is there at all four levels.
func TestGraphCases(t *testing.T) {
	cases := graphCases()
	for _, c := range cases {
		rows, last := c.size()
		if c.elements > 0 && len(c.relations) > 0 && last == 0 || rows < 2 || rows > 500 {
			t.Errorf("%v has %d rows, %d of them in the last level", c, rows, last)
		}
	}
	if len(cases) < 60 {
		t.Errorf("%d cases", len(cases))
	}
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

// dumpLevels is what the tables hold, each key given by the label of its row.
func dumpLevels(t *testing.T, db *gorm.DB) []string {
	t.Helper()
	labels, tables := map[int64]string{}, map[string][]map[string]any{}
	for _, table := range levelTables {
		var rows []map[string]any
		if err := db.Table(table).Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
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
	var lines []string
	for table, rows := range tables {
		for _, row := range rows {
			line := table
			for _, column := range sortedKeys(row) {
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
	slices.Sort(lines)
	return lines
}

func sortedKeys(m map[string]any) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func clearLevels(t *testing.T, db *gorm.DB) {
	t.Helper()
	const below = "one_val_id = NULL, one_ptr_id = NULL, many_val_id = NULL, many_ptr_id = NULL"
	sql := []string{"UPDATE level_bs SET " + below, "UPDATE level_cs SET " + below, "UPDATE level_ds SET parent_id = NULL, " + below}
	for _, table := range slices.Backward(levelTables) {
		sql = append(sql, "DELETE FROM "+table)
	}
	for _, s := range sql {
		if err := db.Exec(s).Error; err != nil {
			t.Fatal(err)
		}
	}
}

// Every association written with the plugin leaves the same rows as plain gorm whose keys
// were all set by hand. SQLite runs every case, and of the servers' usual modes one runs the odd
// and one the even ones. The modes that are not usual share the cases: each runs every fourth
// one, and the next mode begins one further.
func TestGraphsAsPlainGorm(t *testing.T) {
	var turn, server atomic.Int64
	onEvery(t, func(t *testing.T, d database) {
		first, step := 0, 1
		switch {
		case !d.usual:
			first, step = int(turn.Add(1)%4), 4
		case d.name != "sqlite":
			first, step = int(server.Add(1)%2), 2
		}
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		plain := fillHandle(t, d)
		// The levels refer to one another in both directions: tables first, then constraints.
		plain.DisableForeignKeyConstraintWhenMigrating = d.name != "sqlite"
		for range 2 {
			if err := plain.AutoMigrate(levels()...); err != nil {
				t.Fatal(err)
			}
			plain.DisableForeignKeyConstraintWhenMigrating = false
		}
		filled := fillHandle(t, d, fillPlugin(gen, levels()...))
		for i, c := range graphCases() {
			if i%step != first {
				continue
			}
			ok := t.Run(c.String(), func(t *testing.T) {
				existing := func() { // the deepest rows are there already, under other labels
					if c.keys != "existing" {
						return
					}
					var old []LevelD
					parents := c.build()
					visitLevels(reflect.ValueOf(parents), map[uintptr]bool{}, func(row reflect.Value) {
						if d, ok := row.Addr().Interface().(*LevelD); ok && len(d.Label) < 40 {
							old = append(old, LevelD{ID: d.ID, Label: d.Label + "*"})
						}
					})
					if len(old) > 0 {
						if err := plain.Create(&old).Error; err != nil {
							t.Fatal(err)
						}
					}
				}
				existing()
				byHand, next := c.build(), int64(0)
				visitLevels(reflect.ValueOf(byHand), map[uintptr]bool{}, func(row reflect.Value) {
					if id := row.FieldByName("ID"); id.Int() == 0 {
						next++
						id.SetInt(next)
					}
				})
				plainErr := plain.Create(&byHand).Error
				// PostgreSQL refuses a has-one row that two parents share, if its key is set.
				if plainErr != nil && (d.name != "postgres" || !c.shared || !strings.Contains(plainErr.Error(), "21000")) {
					t.Fatalf("%v: plain gorm: %v", c, plainErr)
				}
				want := dumpLevels(t, plain)
				if rows, _ := c.size(); len(want) < rows && plainErr == nil {
					t.Fatalf("%v: %d rows of %d", c, len(want), rows)
				}
				clearLevels(t, plain)

				existing()
				parents := c.build()
				if err := filled.Create(&parents).Error; err != nil && plainErr == nil {
					t.Fatalf("%v: %v", c, err)
				} else if plainErr != nil {
					if got := dumpLevels(t, plain); err != nil && !slices.Equal(got, want) {
						t.Fatalf("%v: left behind by %v:\n%s", c, err, strings.Join(got, "\n"))
					} else if err == nil {
						checkLabels(t, plain, parents)
					}
					clearLevels(t, plain)
					return
				}
				if got := dumpLevels(t, plain); !slices.Equal(got, want) {
					t.Fatalf("%v:\n%s\nplain gorm:\n%s", c, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				checkLabels(t, plain, parents)
				clearLevels(t, plain)
			})
			if !ok {
				return // its rows are still in the tables
			}
		}
	})
}

// checkLabels: each struct holds the key of the row with its label.
func checkLabels(t *testing.T, db *gorm.DB, parents []LevelA) {
	t.Helper()
	stored := map[string]int64{}
	for _, table := range levelTables[:4] {
		var rows []struct {
			ID    int64
			Label string
		}
		if err := db.Table(table).Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			stored[strings.TrimSuffix(r.Label, "*")] = r.ID
		}
	}
	visitLevels(reflect.ValueOf(parents), map[uintptr]bool{}, func(row reflect.Value) {
		label, id := row.FieldByName("Label").String(), row.FieldByName("ID").Int()
		if stored[label] != id || id == 0 {
			t.Errorf("%s holds the key %d and its row has %d", label, id, stored[label])
		}
	})
}
