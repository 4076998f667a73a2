package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// A Plan lists what Run would do. The same schema always has the same plan.
type Plan struct {
	Table  string // with its schema
	Column string
	// Columns lists the columns that change: first the key, then those that refer to it, such as
	// public.order_lines.order_id.
	Columns []string
	Steps   []Step
	Notes   []string // what programs must know
}

// Left returns the steps that are not done.
func (p Plan) Left() []Step {
	return slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return s.Done })
}

// stops reports whether Run must stop: the first step that is not done is the named one, or comes after
// it. If the plan has no such step, stops returns an error, so that Run does not do all of it.
func (p Plan) stops(before string) (bool, error) {
	if before == "" {
		return false, nil
	}
	at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == before })
	if at < 0 {
		return false, live.Error("migrate", "StopBefore", before, "is no step of this plan")
	}
	return slices.IndexFunc(p.Steps, func(s Step) bool { return !s.Done }) >= at, nil
}

// The names of steps. A plan may have several steps of one name.
const (
	StepColumns    = "columns"     // add the new column, and the trigger that fills it
	StepFill       = "fill"        // fill the new column in old rows
	StepCheck      = "check"       // add a constraint that is checked for new rows
	StepValidate   = "validate"    // check the constraint for old rows, and collect statistics
	StepIndex      = "index"       // create an index like one of the old column
	StepForeignKey = "foreign-key" // add a foreign key like one of the old column
	StepSwap       = "swap"        // replace the old column with the new one
	StepFinish     = "finish"      // drop the old column
	StepRemove     = "remove"      // remove what the migration has added, for Undo
)

// A Step is a part of a plan that Run does completely or not at all. The exception is a fill, which Run
// does in batches.
type Step struct {
	Name  string
	Table string // the table that it changes, with its schema; the key's table if it changes several
	// Statements are run in one transaction, unless Transaction is false. A transaction makes programs wait,
	// so it has timeouts and is retried.
	Statements  []string
	Transaction bool
	Batches     bool   // Statements are run for each range of rows, in one transaction
	Lock        string // the strongest lock that it takes, how long, and what that stops
	Check       string // a query that returns true if the step is done
	Done        bool

	triggers, always []string // the triggers that a fill silences, and those that it cannot silence
}

// add appends a statement.
func (s *Step) add(format string, args ...any) {
	s.Statements = append(s.Statements, fmt.Sprintf(format, args...))
}

// String returns the plan as a script with comments.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- bigint: %s.%s\n", p.Table, p.Column)
	for _, c := range p.Columns[min(1, len(p.Columns)):] {
		fmt.Fprintf(&b, "--   and %s, which refers to it\n", c)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "-- Note: %s\n", n)
	}
	for i, s := range p.Steps {
		b.WriteString("\n")
		s.write(&b, i+1, len(p.Steps))
	}
	if len(p.Steps) == 0 {
		b.WriteString("-- Nothing is to be done.\n")
	}
	return b.String()
}

func (s Step) write(b *strings.Builder, i, of int) {
	done := ""
	if s.Done {
		done = " (done)"
	}
	fmt.Fprintf(b, "-- Step %d of %d: %s %s%s\n", i, of, s.Name, s.Table, done)
	fmt.Fprintf(b, "-- Lock: %s\n", s.Lock)
	together := s.Transaction || len(s.Statements) > 1 && s.Batches
	if together {
		b.WriteString("BEGIN;\n")
	}
	for _, text := range s.Statements {
		b.WriteString(text + ";\n")
	}
	if together {
		b.WriteString("COMMIT;\n")
	}
	fmt.Fprintf(b, "-- Check: %s;\n", s.Check)
}

const (
	locksAll    = "ACCESS EXCLUSIVE, for milliseconds: reads and writes wait"
	locksWrites = "SHARE ROW EXCLUSIVE, for milliseconds: writes wait, reads do not"
	locksNone   = "SHARE UPDATE EXCLUSIVE, while it reads the table: neither reads nor writes wait"
	locksRows   = "ROW EXCLUSIVE, and rows of a batch: an UPDATE of one of them waits until the batch has ended"
)

// locked returns a step that locks tables and stops writers. Pass tables that others refer to first, as
// programs lock them. The first lock does not stop writers, but ends an autovacuum, and prevents other
// changes of the schema.
func locked(name string, t *table, check, mode string, tables ...*table) Step {
	var names []string
	for _, t := range tables {
		if name := t.sql(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	text := "LOCK TABLE " + strings.Join(names, ", ") + " IN "
	return Step{
		Name: name, Table: t.String(), Transaction: true, Lock: locksAll, Check: check,
		Statements: []string{text + "SHARE UPDATE EXCLUSIVE MODE", text + mode + " MODE"},
	}
}

const (
	allMode    = "ACCESS EXCLUSIVE"
	writesMode = "SHARE ROW EXCLUSIVE"
)

func regclass(t *table) string { return "to_regclass(" + literal(t.sql()) + ")" }

func hasColumn(t *table, name string) string {
	return fmt.Sprintf("EXISTS (SELECT FROM pg_attribute WHERE attrelid = %s AND attname = %s AND NOT attisdropped)",
		regclass(t), literal(name))
}

func hasConstraint(t *table, name, more string) string {
	return fmt.Sprintf("EXISTS (SELECT FROM pg_constraint WHERE conrelid = %s AND conname = %s%s)",
		regclass(t), literal(name), more)
}
