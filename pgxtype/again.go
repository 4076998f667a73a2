package pgxtype

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
)

// attemptTx is what the function of [Retry] gets, so that [Load] can notice rows
// that cannot be given again: without an error those would be lost that the
// attempt before has taken. A savepoint within it is one too.
type attemptTx struct {
	pgx.Tx
	attempt *attempt
}

// attempt is one run of the function of Retry.
type attempt struct {
	loads *[]*taken // by call of Load, over all attempts
	calls int       // in this attempt
}

// taken is what one call of Load took in the attempts so far, by table.
type taken struct{ tables []takenRows }

type takenRows struct {
	name  pgx.Identifier
	first []print // of the first row, by column; nil before it is known
	rows  int64   // the most that an attempt has sent
	all   bool    // an attempt has come to the end of its rows
}

// print is a value's hash.
type print = [sha256.Size]byte

func (tx *attemptTx) Begin(ctx context.Context) (pgx.Tx, error) {
	nested, err := tx.Tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &attemptTx{Tx: nested, attempt: tx.attempt}, nil
}

// next is that of the next call of Load, which is to fill these tables.
func (a *attempt) next(names []pgx.Identifier) *taken {
	if a.calls == len(*a.loads) {
		*a.loads = append(*a.loads, &taken{})
	}
	t := (*a.loads)[a.calls]
	for i := len(t.tables); i < len(names); i++ {
		t.tables = append(t.tables, takenRows{name: names[i]})
	}
	a.calls++
	return t
}

// names are the tables of all loads of this attempt.
func (a *attempt) names() (names []pgx.Identifier) {
	for _, load := range (*a.loads)[:a.calls] {
		for i := range load.tables {
			names = append(names, load.tables[i].name)
		}
	}
	return names
}

const mustRepeat = "what is retried must give the same rows, under the same keys"

// otherRowError is a first row that differs from that of the attempt before.
type otherRowError struct{ column string }

func (e *otherRowError) Error() string {
	return "the first row is not that of the attempt before: " + mustRepeat
}

// watch compares a table's first row, here where it is sent, with that in the
// attempt before. In a load outside of Retry there is nothing to compare.
func (l *loader[M]) watch(table int, src *source[M]) {
	if l.taken != nil && !l.seen[table] {
		src.first = func() error { return l.compare(table, src.row) }
	}
}

// peek does so where the row is only read yet: an error may come before any is sent.
func (l *loader[M]) peek(table int, masters []M) error {
	if l.taken == nil || l.seen[table] {
		return nil
	}
	src := newSource(l.ctx, &l.cfg.Tables[table], masters)
	l.watch(table, src)
	defer src.end()
	src.Next()
	var other *otherRowError
	if errors.As(src.err, &other) {
		return l.fail(table, -1, nil, other.column, src.err)
	}
	return nil // what else is wrong is told when it is sent
}

func (l *loader[M]) compare(table int, row []any) error {
	l.seen[table] = true
	columns := l.cfg.Tables[table].columns
	first := make([]print, len(row))
	for c, v := range row {
		if isMap(v) {
			continue // such as an hstore, which is encoded in any order
		}
		if encoded, _, err := appendValue(l.tx.Conn().TypeMap(), l.columns[table][c].oid, v, nil); err == nil {
			first[c] = sha256.Sum256(encoded) // an error is told when it is sent
		}
	}
	before := &l.taken.tables[table]
	if before.first == nil && !before.all {
		before.first, before.rows = first, max(before.rows, 1)
		return nil
	}
	for c := range first {
		if c >= len(before.first) || first[c] != before.first[c] {
			return &otherRowError{columns[c]}
		}
	}
	return nil
}

func isMap(v any) bool {
	t := reflect.TypeOf(v)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && t.Kind() == reflect.Map
}

// same ends the comparison: fewer rows than an attempt before has sent are an
// error, and so are more than all. The number is kept for the attempts after it.
func (l *loader[M]) same(err error) error {
	if l.taken == nil {
		return err
	}
	for i, rows := range l.rows {
		before := &l.taken.tables[i]
		if err == nil && (rows < before.rows || before.all && rows > before.rows) {
			err = l.fail(i, -1, nil, "", fmt.Errorf("%d rows, and the attempt before had taken %d: "+mustRepeat, rows, before.rows))
		}
		before.rows, before.all = max(before.rows, rows), before.all || err == nil
	}
	if err != nil && l.ctx.Err() == nil && !l.seenAny() {
		// Masters were read that are known by a DetailSeq only, which was not run yet.
		for i := range l.cfg.Tables {
			src := newSource(l.ctx, &l.cfg.Tables[i], l.chunk)
			l.watch(i, src)
			src.Next()
			src.cursor.close()
		}
	}
	return err
}

func (l *loader[M]) seenAny() bool {
	for _, seen := range l.seen {
		if seen {
			return true
		}
	}
	return false
}
