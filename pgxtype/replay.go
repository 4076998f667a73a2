package pgxtype

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
)

// attemptTx is the transaction that [Retry] passes to its function. With it, [Load] detects a
// sequence that does not start again from the beginning, so that the rows which an earlier
// attempt has read would be lost. Its savepoints are attemptTx too.
type attemptTx struct {
	pgx.Tx
	attempt *attempt
}

// attempt is one run of the function of Retry.
type attempt struct {
	loads *[]*rowsRead // by call of Load, over all attempts
	calls int          // in this attempt
}

// rowsRead is what one call of Load has read in the attempts so far, by table.
type rowsRead struct{ tables []tableRows }

type tableRows struct {
	name  pgx.Identifier
	first []hash // of the first row, by column; nil before it is known
	rows  int64  // the most that an attempt has read
	all   bool   // an attempt has sent all its rows
}

// hash is that of an encoded value.
type hash = [sha256.Size]byte

func (tx *attemptTx) Begin(ctx context.Context) (pgx.Tx, error) {
	nested, err := tx.Tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &attemptTx{Tx: nested, attempt: tx.attempt}, nil
}

// next returns the record of the next call of Load, which writes these tables.
func (a *attempt) next(names []pgx.Identifier) *rowsRead {
	if a.calls == len(*a.loads) {
		*a.loads = append(*a.loads, &rowsRead{})
	}
	t := (*a.loads)[a.calls]
	for i := len(t.tables); i < len(names); i++ {
		t.tables = append(t.tables, tableRows{name: names[i]})
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

const mustRepeat = "each attempt must load the same rows, under the same keys"

var errOtherRow = errors.New("the first row differs from that of an earlier attempt: " + mustRepeat)

// compare compares the hashes of a table's first row with those of earlier attempts.
func (l *loader) compare(table int, first []hash) error {
	l.seen[table] = true
	before := &l.replay.tables[table]
	if before.first == nil && !before.all {
		before.first, before.rows = first, max(before.rows, 1)
		return nil
	}
	for c := range first {
		if c >= len(before.first) || first[c] != before.first[c] {
			return l.fail(table, -1, l.tables[table].columns[c], errOtherRow)
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

// same runs a load and then compares the numbers of rows. Fewer rows than an earlier
// attempt has read are an error, and so are more if that attempt has sent all its rows.
// It keeps the numbers for later attempts, also if a function panics.
func (l *loader) same(load func() error) (err error) {
	if l.replay == nil {
		return load()
	}
	defer func() {
		for i, t := range l.tables {
			before := &l.replay.tables[i]
			before.rows = max(before.rows, t.sent+int64(t.rows))
		}
	}()
	if err := load(); err != nil {
		return err
	}
	for i, t := range l.tables {
		before, rows := &l.replay.tables[i], t.sent
		if rows < before.rows || before.all && rows > before.rows {
			return l.fail(i, -1, "", fmt.Errorf("%d rows, but an earlier attempt had read %d: "+mustRepeat, rows, before.rows))
		}
	}
	for i := range l.tables {
		l.replay.tables[i].all = true
	}
	return nil
}
