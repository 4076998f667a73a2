package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
)

// A Plan is what Run would do. For one schema it is always the same.
type Plan struct {
	Table  string // with its schema
	Column string
	// Columns lists the columns that change, the key first: those that refer to it follow, such as
	// public.order_lines.order_id.
	Columns []string
	Steps   []Step
	Notes   []string // what programs must know
}

// Left returns the steps that are not done.
func (p Plan) Left() []Step {
	return slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return s.Done })
}

// stops reports whether the first step that is not done is one before which Run stops, or comes
// after it. A plan without such a step is an error, not a reason to do all of it.
func (p Plan) stops(before StepName) (bool, error) {
	if before == "" {
		return false, nil
	}
	at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == before })
	if at < 0 {
		return false, live.Error("migrate", "StopBefore", string(before), "is no step of this plan")
	}
	return slices.IndexFunc(p.Steps, func(s Step) bool { return !s.Done }) >= at, nil
}

// A StepName is the kind of a step. A plan may have several steps of one kind.
type StepName string

// The names of steps.
const (
	StepColumns    StepName = "columns"     // add the new column, and the trigger that fills it
	StepSequence   StepName = "sequence"    // let the sequence count beyond an integer
	StepFill       StepName = "fill"        // fill the new column in old rows
	StepCheck      StepName = "check"       // a constraint that holds for new rows
	StepValidate   StepName = "validate"    // and for old ones
	StepIndex      StepName = "index"       // an index like one of the old column
	StepForeignKey StepName = "foreign-key" // a foreign key like one of the old column
	StepAnalyze    StepName = "analyze"     // statistics
	StepSwap       StepName = "swap"        // the new takes the place of the old
	StepFinish     StepName = "finish"      // drop the old
	StepRemove     StepName = "remove"      // remove what a migration has added, for Undo
)

// StepNames returns the names of all steps.
func StepNames() []string {
	return []string{
		string(StepColumns), string(StepSequence), string(StepFill), string(StepCheck), string(StepValidate),
		string(StepIndex), string(StepForeignKey), string(StepAnalyze), string(StepSwap), string(StepFinish),
		string(StepRemove),
	}
}

func (n StepName) valid() bool { return slices.Contains(StepNames(), string(n)) }

// A Step is a part of a plan that is done as a whole, or not at all. A fill is an exception: it
// is done in batches.
type Step struct {
	Name  StepName
	Table string // that it changes, with its schema; the key's if it changes several
	// Statements are run in one transaction, unless Transaction is false.
	Statements  []string
	Transaction bool
	Batches     bool   // Statements are run for each range of rows, in one transaction
	Lock        string // the strongest lock that it takes, and what that stops
	Held        string // for how long
	Check       string // a query that returns true if the step is done
	Back        string // the way back
	Done        bool

	filled []live.Filled // by a fill
	stops  bool          // its lock stops writers: it gets timeouts, and is tried again
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
	fmt.Fprintf(b, "-- Lock: %s\n-- Held: %s\n", s.Lock, s.Held)
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
	fmt.Fprintf(b, "-- Check: %s;\n-- Back: %s\n", s.Check, s.Back)
}

const (
	locksAll    = "ACCESS EXCLUSIVE: reads and writes wait"
	locksWrites = "SHARE ROW EXCLUSIVE: writes wait, reads do not"
	locksNone   = "SHARE UPDATE EXCLUSIVE: neither reads nor writes wait; other changes of the schema do"
	locksRows   = "ROW EXCLUSIVE, and rows of a batch: an UPDATE of one of them waits until the batch has ended; " +
		"rows that others have locked are left for later"
)

func (j *job) heldShort() string {
	return fmt.Sprintf("milliseconds, whatever the size of the table; at most %v, and before that at most %v while it "+
		"waits for transactions of others, with writers behind it. It is tried again.",
		j.cfg.HoldTimeout, j.cfg.LockTimeout)
}

// locked is a step that stops writers.
func (j *job) locked(name StepName, t *table, check, back string, statements ...string) Step {
	return Step{
		Name: name, Table: t.String(), Statements: statements, Transaction: true, stops: true, Lock: locksAll,
		Held: j.heldShort(), Check: check, Back: back,
	}
}

func heldLong(what string) string { return "while it " + what + ": depends on the size of the table" }

// locking returns the statements that lock tables, those that others refer to first, as programs do.
// The first lock stops no writers, but ends an autovacuum, and keeps other changes of the schema out.
func locking(mode string, tables ...*table) []string {
	var names []string
	for _, t := range tables {
		if name := t.sql(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	text := "LOCK TABLE " + strings.Join(names, ", ") + " IN "
	return []string{text + "SHARE UPDATE EXCLUSIVE MODE", text + mode + " MODE"}
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
