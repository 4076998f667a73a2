package knocks

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// Order and Line are the graph that is written. Note names one attempt to write it.
type Order struct {
	ID    sqltype.ID
	Note  string `gorm:"size:64;uniqueIndex"`
	Want  int    // how many lines it has
	Lines []Line
}

type Line struct {
	ID      sqltype.ID
	OrderID sqltype.ID `gorm:"index"`
	SKU     string     `gorm:"size:32"`
}

// outcome is the result of an attempt, as its writer knows it.
type outcome uint8

const (
	refused outcome = iota // nothing of it may be there
	unknown                // all of it or nothing
	written                // all of it must be there
)

// A ledger keeps the outcomes of all writers, and all ids that were ever issued.
type ledger struct {
	mu       sync.Mutex
	attempts map[string]outcome
	keys     map[string]sqltype.ID // of the orders that were written
	ids      []int64
	counts   [written + 1]int
	faults   []error // that no knock explains
	errors   map[string]int
}

func newLedger() *ledger {
	return &ledger{attempts: map[string]outcome{}, keys: map[string]sqltype.ID{}, errors: map[string]int{}}
}

func (l *ledger) note(o *Order, note string, how outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts[note] = how
	l.counts[how]++
	if how == written {
		l.keys[note] = o.ID
	}
}

// written is how many orders were.
func (l *ledger) written() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[written]
}

func (l *ledger) fault(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, err)
}

func (l *ledger) met(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errors[kind]++
}

// A source is a writer's present generator. Its ids are all entered in the ledger,
// also those of writes that fail.
type source struct {
	gen    *worker.Generator
	ledger *ledger
}

func (s *source) Next(ctx context.Context) (int64, error) {
	id, err := s.gen.Next(ctx)
	if err == nil {
		s.enter(id)
	}
	return id, err
}

func (s *source) Fill(ctx context.Context, ids []int64) error {
	err := s.gen.Fill(ctx, ids)
	if err == nil {
		s.enter(ids...)
	}
	return err
}

func (s *source) enter(ids ...int64) {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	s.ledger.ids = append(s.ledger.ids, ids...)
}

// check compares the ledger with what the database has, and gives every fault.
func (l *ledger) check(db *sql.DB) (summary string, faults []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for _, err := range l.faults {
		add("no knock explains: %w", err)
	}
	slices.Sort(l.ids)
	for i := 1; i < len(l.ids); i++ {
		if l.ids[i] == l.ids[i-1] {
			add("id %d was issued twice", l.ids[i])
		}
	}
	orphans := 0
	err := db.QueryRow("SELECT count(*) FROM knock_lines WHERE order_id NOT IN (SELECT id FROM knock_orders)").Scan(&orphans)
	if orphans > 0 || err != nil {
		add("%d lines have no order (%v)", orphans, err)
	}
	there, odd := l.compare(db)
	faults = append(faults, odd...)
	missing, settled := 0, 0
	for note, how := range l.attempts {
		if how == written && !there[note] {
			missing++
		}
		if how == unknown && there[note] {
			settled++
		}
	}
	if missing > 0 {
		add("%d orders that were acknowledged are not there", missing)
	}
	if len(l.ids) == 0 || l.counts[written] == 0 {
		add("nothing was written: this shows nothing")
	}
	return fmt.Sprintf("%d ids; %d orders written, %d refused, %d unknown of which %d are there; %d orders in the database, %d lines without one; errors met: %v",
		len(l.ids), l.counts[written], l.counts[refused], l.counts[unknown], settled, len(there), orphans, l.errors), faults
}

// compare looks at each order that is there.
func (l *ledger) compare(db *sql.DB) (there map[string]bool, faults []error) {
	rows, err := db.Query("SELECT o.id, o.note, o.want, count(l.id) FROM knock_orders o LEFT JOIN knock_lines l ON l.order_id = o.id GROUP BY o.id, o.note, o.want")
	if err != nil {
		return nil, []error{err}
	}
	defer rows.Close()
	there = map[string]bool{}
	for rows.Next() {
		var id sqltype.ID
		var note string
		var want, have int
		if err := rows.Scan(&id, &note, &want, &have); err != nil {
			return nil, []error{err}
		}
		there[note] = true
		how, known := l.attempts[note]
		switch {
		case !known:
			faults = append(faults, fmt.Errorf("order %q was never tried", note))
		case how == refused:
			faults = append(faults, fmt.Errorf("order %q was refused and is there", note))
		case how == written && l.keys[note] != id:
			faults = append(faults, fmt.Errorf("order %q was written as %d and is %d", note, l.keys[note], id))
		}
		if want != have {
			faults = append(faults, fmt.Errorf("order %q has %d of %d lines", note, have, want))
		}
		if _, issued := slices.BinarySearch(l.ids, id.Int64()); !issued {
			faults = append(faults, fmt.Errorf("order %q has the id %d, which was not issued", note, id))
		}
	}
	if err := rows.Err(); err != nil {
		faults = append(faults, err)
	}
	return there, faults
}
