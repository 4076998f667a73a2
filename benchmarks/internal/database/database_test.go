package database

import (
	"fmt"
	"testing"
)

// Each engine takes rows under each kind of key, no key is there twice, and the
// sizes and the log grow with them.
func TestEngines(t *testing.T) {
	const rows = 500
	for _, name := range Engines() {
		t.Run(name, func(t *testing.T) {
			e := Open(t, name, true)
			if e.Dialector().Name() == "" {
				t.Error("gorm's dialect has no name")
			}
			for _, k := range Keys() {
				t.Run(k.Name, func(t *testing.T) {
					master, detail := e.Fresh("master"), e.Fresh("detail")
					e.Exec(t, e.Create(master, k, "name varchar(40) NOT NULL", "")...)
					e.Exec(t, e.Create(detail, k, "text varchar(40) NOT NULL", master)...)
					e.Settle(t)
					emptySize, _ := e.Sizes(t, master)
					before := e.Log(t)
					keys := make([]any, rows)
					if m := e.Maker(t, k); k.Auto() != (m.Fill(keys) != nil) {
						t.Error("keys were made, or were not")
					}
					var args []any
					for i := range rows {
						if !k.Auto() {
							args = append(args, keys[i])
						}
						args = append(args, fmt.Sprintf("the name of row %d", i))
					}
					if _, err := e.DB.ExecContext(t.Context(), e.Insert(master, k, []string{"name"}, rows, false), args...); err != nil {
						t.Fatal(err)
					}
					all, key := e.Sizes(t, master)
					if n := e.Count(t, master); n != rows {
						t.Errorf("%d rows, want %d", n, rows)
					}
					if all <= emptySize || key < 0 || key >= all || name == Postgres && key == 0 {
						t.Errorf("%d bytes before, %d after, %d of them the key's", emptySize, all, key)
					}
					if log := e.Log(t) - before; log < rows*10 {
						t.Errorf("%d bytes of log for %d rows", log, rows)
					}
				})
			}
		})
	}
}
