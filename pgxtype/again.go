package pgxtype

import (
	"bytes"
	"errors"

	"github.com/jackc/pgx/v5"
)

// attemptTx is what the function of [Retry] gets, so that [Load] can notice a
// sequence that cannot be run again: it would lose, without an error, the rows
// that the attempt before has taken from it.
type attemptTx struct {
	pgx.Tx
	loads *[]*firstKey // by call of Load, over all attempts
	calls int          // in this attempt
}

// firstKey is the first column of the first row, encoded; nil before it is known.
type firstKey struct{ value []byte }

// next is that of the next call of Load.
func (tx *attemptTx) next() *firstKey {
	if tx.calls == len(*tx.loads) {
		*tx.loads = append(*tx.loads, &firstKey{})
	}
	tx.calls++
	return (*tx.loads)[tx.calls-1]
}

// again compares the beginning of the rows with that in the attempt before. It
// looks at the first master, and at those of its rows that are in memory.
func (l *loader[M]) again() error {
	if l.first == nil {
		return nil
	}
	first, table := l.first, 0
	l.first = nil // once a load
	value := []byte{}
	if len(l.chunk) > 0 {
		for table < len(l.cfg.Tables) && l.cfg.Tables[table].count(&l.chunk[0]) == 0 {
			table++
		}
		if table == len(l.cfg.Tables) {
			return nil
		}
		src := newSource(l.ctx, &l.cfg.Tables[table], l.chunk[:1])
		defer src.end()
		if !src.Next() {
			return nil // what is wrong is told when it is sent
		}
		encoded, _, err := appendValue(l.tx.Conn().TypeMap(), l.columns[table][0].oid, src.row[0], value)
		if err != nil {
			return nil // the same
		}
		value = encoded
	}
	if first.value != nil && !bytes.Equal(first.value, value) {
		return l.fail(table, -1, nil, l.cfg.Tables[table].columns[0], errors.New("the first row is not that of the attempt before: what is retried must give the same rows, under the same keys"))
	}
	first.value = value
	return nil
}
