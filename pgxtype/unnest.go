package pgxtype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// batchBytes is how much is encoded before it is sent, chunk or not.
const batchBytes = 16 << 20

// The savepoint of a chunk. What is in it can be sent again, to find a row.
const savepoint = "snowkey_load"

// inserter holds a batch of statements that was not sent yet.
type inserter struct {
	batch  *pgconn.Batch
	tables []int // by statement: its table, or -1
	bytes  int
	opened bool // the savepoint of this chunk is in the batch, or on the server
}

func (in *inserter) add(table int, sql string, values [][]byte, oids []uint32) {
	if in.batch == nil {
		in.batch = &pgconn.Batch{}
	}
	formats := []int16{pgtype.BinaryFormatCode}
	if len(values) == 0 {
		formats = nil
	}
	in.batch.ExecParams(sql, values, oids, formats, nil)
	in.tables = append(in.tables, table)
	for _, v := range values {
		in.bytes += len(v)
	}
}

// unnestChunk sends the chunk's rows in one batch, with a statement for each
// table that has any. The batch is sent in parts if it is very large.
func (l *loader[M]) unnestChunk() error {
	if l.insert == nil {
		l.insert = &inserter{}
	}
	in := l.insert
	in.opened = false
	given := make([]int, len(l.cfg.Tables))
	for i := range l.cfg.Tables {
		n, err := l.unnestTable(i, in)
		if err != nil {
			return err
		}
		given[i] = n
	}
	if !in.opened {
		return nil // no rows
	}
	in.add(-1, "release savepoint "+savepoint, nil, nil)
	if err := l.flush(in); err != nil {
		return err
	}
	for i, n := range given {
		l.rows[i] += int64(n)
	}
	return nil
}

// unnestTable encodes a table's rows, column by column, as they are given.
func (l *loader[M]) unnestTable(i int, in *inserter) (rows int, err error) {
	t := &l.cfg.Tables[i]
	columns := l.columns[i]
	src := newSource(l.ctx, t, l.chunk)
	l.watch(i, src)
	defer src.end()
	types := l.tx.Conn().TypeMap()
	arrays := make([]array, len(columns))
	waiting, size := 0, 0
	for src.Next() {
		for c, v := range src.row {
			before := len(arrays[c].buf)
			if err := arrays[c].add(types, columns[c].oid, v); err != nil {
				return 0, l.fail(i, src.n-1, src, t.columns[c], err)
			}
			size += len(arrays[c].buf) - before
		}
		waiting++
		if in.bytes+size >= batchBytes {
			l.addInsert(i, in, arrays, waiting)
			waiting, size = 0, 0
			if err := l.flush(in); err != nil {
				return 0, err
			}
		}
	}
	if src.err != nil {
		return 0, l.sourceFailed(i, src)
	}
	if waiting > 0 {
		l.addInsert(i, in, arrays, waiting)
	}
	return src.n, nil
}

// addInsert queues the rows and begins new arrays.
func (l *loader[M]) addInsert(i int, in *inserter, arrays []array, rows int) {
	if !in.opened {
		in.opened = true
		in.add(-1, "savepoint "+savepoint, nil, nil)
	}
	t := &l.cfg.Tables[i]
	values, oids, marks := make([][]byte, len(arrays)), make([]uint32, len(arrays)), make([]string, len(arrays))
	for c := range arrays {
		values[c], oids[c], marks[c] = arrays[c].end(l.columns[i][c].oid, rows), l.columns[i][c].array, fmt.Sprintf("$%d", c+1)
		arrays[c] = array{buf: arrays[c].buf[:0]} // the batch has its own copy once it is added
	}
	// As COPY does, it takes the keys given, whatever an identity column would make.
	in.add(i, "insert into "+t.name.Sanitize()+" ("+quoted(t.columns)+") overriding system value select * from unnest("+strings.Join(marks, ", ")+")", values, oids)
}

// flush sends the batch.
func (l *loader[M]) flush(in *inserter) error {
	batch, tables := in.batch, in.tables
	in.batch, in.tables, in.bytes = nil, nil, 0
	results := l.tx.Conn().PgConn().ExecBatch(l.ctx, batch)
	counts := make([]int64, 0, len(tables))
	for len(counts) < len(tables) && results.NextResult() {
		tag, err := results.ResultReader().Close()
		if err != nil {
			break
		}
		counts = append(counts, tag.RowsAffected())
	}
	if err := results.Close(); err != nil {
		table := -1
		if len(counts) < len(tables) {
			table = tables[len(counts)]
		}
		if table < 0 {
			return fmt.Errorf("pgxtype: load: %w", err)
		}
		return l.insertFailed(table, err)
	}
	for i, n := range counts {
		if tables[i] >= 0 {
			l.count(tables[i], n)
		}
	}
	return nil
}

// insertFailed finds the row that made an INSERT fail: it sends the chunk once
// more with COPY, which tells. All of it is to be rolled back anyway.
func (l *loader[M]) insertFailed(table int, err error) error {
	var pg *pgconn.PgError
	unnamed := l.fail(table, -1, nil, "", err)
	if !errors.As(err, &pg) || !ofRow(pg.Code) {
		return unnamed // nothing that a row is to blame for
	}
	unnamed.Column = ownColumn(pg, "")
	if _, rollbackErr := l.tx.Exec(l.ctx, "rollback to savepoint "+savepoint); rollbackErr != nil {
		return unnamed
	}
	copyErr := l.copyChunk()
	var named *LoadError
	if errors.As(copyErr, &named) && sqlState(named) == pg.Code && named.Table.Sanitize() == unnamed.Table.Sanitize() {
		return named
	}
	return unnamed
}

// array is one being encoded: https://www.postgresql.org/docs/current/protocol-overview.html
// calls it the binary format, and array_recv reads it.
type array struct {
	buf   []byte // its head and the elements
	nulls bool
}

const arrayHead = 20

func (a *array) add(m *pgtype.Map, oid uint32, v any) error {
	if len(a.buf) == 0 {
		a.buf = append(a.buf, make([]byte, arrayHead)...)
	}
	buf, null, err := appendValue(m, oid, v, a.buf)
	if err != nil {
		return err
	}
	a.buf, a.nulls = buf, a.nulls || null
	return nil
}

// end fills in the head: dimensions, whether there are NULLs, the elements'
// type, how many, and the index of the first.
func (a *array) end(oid uint32, n int) []byte {
	nulls := uint32(0)
	if a.nulls {
		nulls = 1
	}
	for i, v := range []uint32{1, nulls, oid, uint32(n), 1} {
		binary.BigEndian.PutUint32(a.buf[4*i:], v)
	}
	return a.buf
}
