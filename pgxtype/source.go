package pgxtype

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// source gives the rows of one table for a chunk of masters, in the way that
// pgx's CopyFrom asks for them. pgx asks on a goroutine of its own, where a
// panic of the caller's functions would end the program, so it is caught.
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
}

var _ pgx.CopyFromSource = (*source[int])(nil)

func newSource[M any](ctx context.Context, t *Table[M], masters []M) *source[M] {
	return &source[M]{ctx: ctx, table: t, masters: masters, cursor: t.cursor()}
}

// Next goes to the next row; false means the end, or err.
func (s *source[M]) Next() (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			s.panicked, s.err, ok = v, fmt.Errorf("panic: %v", v), false
		}
	}()
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

// end releases what the rows come from. It goes on with a panic of the caller's
// functions, now on the caller's goroutine.
func (s *source[M]) end() {
	s.cursor.close()
	if s.panicked != nil {
		panic(s.panicked)
	}
}
