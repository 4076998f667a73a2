package pgxtype

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/jackc/pgx/v5"
)

// source gives the rows of one table for a chunk of masters, in the way that
// pgx's CopyFrom asks for them. pgx asks on a goroutine of its own, where a
// panic of the caller's functions would end the program, so it is caught; their
// runtime.Goexit, which cannot be caught, ends the COPY.
type source[M any] struct {
	ctx     context.Context // pgx's interface has no place for it
	table   *Table[M]
	masters []M
	cursor  cursor[M]

	started bool  // the cursor stands in masters[len(ends)]
	row     []any // the last row given
	n       int   // rows given
	ends    []int // by master that is done, n at that moment

	first    func() error // nil, or what is asked once the first row is there
	err      error        // why the rows ended early
	panicked any          // what a function of the caller's panicked with
	exited   bool         // such a function ended the goroutine, as t.FailNow does
	stop     func()       // nil, or what ends the COPY, which would wait for that goroutine's rows
}

var _ pgx.CopyFromSource = (*source[int])(nil)

func newSource[M any](ctx context.Context, t *Table[M], masters []M) *source[M] {
	return &source[M]{ctx: ctx, table: t, masters: masters, cursor: t.cursor()}
}

// Next goes to the next row; false means the end, or err.
func (s *source[M]) Next() (ok bool) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			s.panicked, s.err, ok = v, fmt.Errorf("panic: %v", v), false
			return
		}
		s.exited, s.err = true, errExited
		if s.stop != nil {
			s.stop()
		}
	}()
	ok = s.next()
	returned = true
	return ok
}

func (s *source[M]) next() bool {
	if s.err != nil {
		return false
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return false
	}
	for {
		if !s.started {
			if len(s.ends) == len(s.masters) {
				return false
			}
			s.cursor.reset(&s.masters[len(s.ends)])
			s.started = true
		}
		row, ok, err := s.cursor.next(s.row[:0])
		if ok && len(row) != len(s.table.columns) {
			err = fmt.Errorf("%d values for %d columns", len(row), len(s.table.columns))
		}
		if err != nil {
			s.n++ // it is the row after those given that is at fault
			s.err = err
			return false
		}
		if ok {
			s.row = row
			s.n++
			if s.n == 1 && s.first != nil {
				s.err = s.first()
			}
			return s.err == nil
		}
		s.ends = append(s.ends, s.n)
		s.started = false
	}
}

// Values returns the row.
func (s *source[M]) Values() ([]any, error) { return s.row, nil }

// Err returns why there are no more rows, or nil.
func (s *source[M]) Err() error { return s.err }

// master returns the index of the master that row belongs to, within the chunk.
func (s *source[M]) master(row int) int {
	i, _ := slices.BinarySearch(s.ends, row+1)
	return i
}

const errExited = constError("a function ended its goroutine by runtime.Goexit")

// end releases what the rows come from. It goes on with a panic of the caller's
// functions, or with their runtime.Goexit, now on the caller's goroutine.
func (s *source[M]) end() {
	s.cursor.close()
	switch {
	case s.panicked != nil:
		panic(s.panicked)
	case s.exited:
		runtime.Goexit()
	}
}
