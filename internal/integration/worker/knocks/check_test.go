package knocks

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite"
)

// The check finds each kind of fault.
func TestCheck(t *testing.T) {
	whole := func() *ledger {
		l := newLedger()
		l.ids = []int64{1, 2, 3, 4}
		l.note(&Order{ID: 1}, "a", written)
		l.note(&Order{ID: 3}, "b", unknown)
		return l
	}
	const rows = "INSERT INTO knock_orders VALUES (1, 'a', 1), (3, 'b', 1); INSERT INTO knock_lines VALUES (2, 1), (4, 3);"
	for _, c := range []struct {
		name, then, want string
		book             func(l *ledger)
	}{
		{name: "whole"},
		{name: "an unknown one is not there", then: "DELETE FROM knock_lines WHERE order_id = 3; DELETE FROM knock_orders WHERE id = 3"},
		{name: "issued twice", book: func(l *ledger) { l.ids = append(l.ids, 4) }, want: "id 4 was issued twice"},
		{name: "orphan", then: "DELETE FROM knock_orders WHERE id = 3", want: "1 lines have no order"},
		{name: "half", then: "DELETE FROM knock_lines WHERE order_id = 1", want: `order "a" has 0 of 1 lines`},
		{name: "lost", then: "DELETE FROM knock_lines WHERE order_id = 1; DELETE FROM knock_orders WHERE id = 1", want: "1 orders that were acknowledged are not there"},
		{name: "refused and there", book: func(l *ledger) { l.attempts["b"] = refused }, want: `order "b" was refused and is there`},
		{name: "never tried", book: func(l *ledger) { delete(l.attempts, "b") }, want: `order "b" was never tried`},
		{name: "another key", book: func(l *ledger) { l.keys["a"] = 2 }, want: `order "a" was written as 2 and is 1`},
		{name: "foreign id", book: func(l *ledger) { l.ids = l.ids[:2] }, want: `has the id 3, which was not issued`},
		{name: "fault", book: func(l *ledger) { l.fault(errors.New("UNIQUE")) }, want: "UNIQUE"},
		{name: "nothing", book: func(l *ledger) { *l = *newLedger() }, want: "nothing was written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "x.sqlite"))
			must(t, err)
			defer db.Close()
			if _, err := db.Exec("CREATE TABLE knock_orders (id INTEGER, note TEXT, want INTEGER); CREATE TABLE knock_lines (id INTEGER, order_id INTEGER);" + rows + c.then); err != nil {
				t.Fatal(err)
			}
			l := whole()
			if c.book != nil {
				c.book(l)
			}
			_, faults := l.check(db)
			if got := errors.Join(faults...); c.want == "" && got != nil || c.want != "" && (got == nil || !strings.Contains(got.Error(), c.want)) {
				t.Errorf("%v, and not %q", got, c.want)
			}
		})
	}
}
