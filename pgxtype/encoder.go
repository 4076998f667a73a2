package pgxtype

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// encoder holds the rows of one table that were not yet sent, and no memory of the
// caller. The rows are in COPY's binary format, whose fields have the form of elements
// of a binary array: https://www.postgresql.org/docs/current/sql-copy.html
type encoder struct {
	load     *loader
	table    int
	name     pgx.Identifier
	columns  []string
	types    []column
	conflict *Conflict
	primary  []int // with conflict: columns of the primary key to compare, or none

	values []any // what the caller fills
	buf    []byte
	rows   int   // in buf
	ends   []int // by parent since rows were last sent: rows after that parent
	sent   int64 // rows before those in buf
}

// copyHead begins a COPY: signature, flags, and the length of an extension.
const copyHead = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// maxChunkBytes leaves room for a row in what one message can hold.
const maxChunkBytes = 512 << 20

// copies reports whether the rows go by COPY.
func (e *encoder) copies() bool { return e.load.method == Copy && e.conflict == nil }

// row is the empty slice for the values of the next row.
func (e *encoder) row() []any { return e.values[:0] }

// add encodes a row.
func (e *encoder) add(row []any) error {
	l := e.load
	e.values = row
	if len(row) != len(e.columns) {
		return e.refuse(fmt.Errorf("%d values for %d columns", len(row), len(e.columns)))
	}
	var first []hash
	if l.replay != nil && !l.seen[e.table] {
		first = make([]hash, len(row))
	}
	if len(e.buf) == 0 {
		e.buf = append(e.buf, copyHead...)
	}
	start := len(e.buf)
	e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(len(row)))
	for c, v := range row {
		from := len(e.buf)
		buf, err := e.types[c].appendValue(l.types, v, e.buf)
		if err != nil {
			return l.fail(e.table, e.rows, e.columns[c], unencodable(l.types, e.types[c].oid, v, err))
		}
		e.buf = buf
		if first != nil && !isMap(v) { // a map, such as an hstore, is encoded in any order
			first[c] = sha256.Sum256(buf[from:])
		}
	}
	if first != nil {
		if err := l.compare(e.table, first); err != nil {
			return err
		}
	}
	e.rows++
	l.rows++
	l.bytes += len(e.buf) - start
	if err := l.ctx.Err(); err != nil {
		return l.failParent(err)
	}
	if !e.copies() {
		return e.spill() // a statement cannot exceed a gigabyte, and is three times in memory
	}
	return nil
}

// refuse makes an error that names the next row.
func (e *encoder) refuse(err error) error { return e.load.fail(e.table, e.rows, "", err) }

// spill sends the rows in the middle of a parent if that parent alone has a chunk's
// bytes. Smaller parents are not split, because their rows may refer to later ones.
func (e *encoder) spill() error {
	if e.load.bytes-e.load.before >= e.load.chunkBytes {
		return e.load.send()
	}
	return nil
}

// reset drops the rows after they were sent.
func (e *encoder) reset() {
	e.sent += int64(e.rows)
	e.rows, e.ends = 0, e.ends[:0]
	if cap(e.buf) > 2*e.load.chunkBytes {
		e.buf = nil // a parent that is far larger than others
	}
	e.buf = e.buf[:0]
}

// each goes through the fields of some rows, with their lengths.
func (e *encoder) each(from, to int, field func(row, column int, b []byte)) {
	rest := e.buf[min(len(copyHead), len(e.buf)):]
	for row := range to {
		rest = rest[2:]
		for c := range e.columns {
			size := 4
			if length := int32(binary.BigEndian.Uint32(rest)); length > 0 {
				size += int(length)
			}
			if row >= from {
				field(row, c, rest[:size:size])
			}
			rest = rest[size:]
		}
	}
}

// unnestArray is one in the binary format, which array_recv reads.
type unnestArray struct {
	buf   []byte
	nulls uint32
}

const arrayHead = 20

// arrays returns some rows by column, each as an array of some columns.
func (e *encoder) arrays(from, to int, columns []int) (values [][]byte, oids []uint32) {
	place := make([]int, len(e.columns)) // one more than the array of a column
	for i, c := range columns {
		place[c] = i + 1
	}
	sizes := make([]int, len(columns))
	e.each(from, to, func(_, c int, b []byte) {
		if p := place[c]; p > 0 {
			sizes[p-1] += len(b)
		}
	})
	arrays := make([]unnestArray, len(columns))
	for i, size := range sizes {
		arrays[i].buf = make([]byte, arrayHead, arrayHead+size)
	}
	e.each(from, to, func(_, c int, b []byte) {
		if p := place[c]; p > 0 {
			a := &arrays[p-1]
			a.buf = append(a.buf, b...)
			if len(b) == 4 && b[0] == 0xff { // NULL: a length of -1
				a.nulls = 1
			}
		}
	})
	for i, c := range columns {
		a := &arrays[i]
		// Dimensions, whether there are NULLs, the elements' type, how many, and the
		// index of the first. One without elements has no dimension.
		head := []uint32{1, a.nulls, e.types[c].oid, uint32(to - from), 1}
		if from == to {
			head[0], a.buf = 0, a.buf[:12]
		}
		for j := range len(a.buf[:min(len(a.buf), arrayHead)]) / 4 {
			binary.BigEndian.PutUint32(a.buf[4*j:], head[j])
		}
		values, oids = append(values, a.buf), append(oids, e.types[c].array)
	}
	return values, oids
}

// all are the indexes of all columns.
func (e *encoder) all() []int {
	columns := make([]int, len(e.columns))
	for c := range columns {
		columns[c] = c
	}
	return columns
}

var errNoArray = errors.New("is an array, a composite, or of a type that has no arrays; use Copy, without OnConflict")
