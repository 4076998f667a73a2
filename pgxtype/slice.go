package pgxtype

import (
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// slice is a []ID for pgx's array codec. It returns the elements' addresses, because an ID in an
// interface would be copied to the heap, once per element.
type slice []sqltype.ID

var (
	_ pgtype.ArrayGetter = slice(nil)
	_ pgtype.ArraySetter = (*slice)(nil)
)

func (s slice) Dimensions() []pgtype.ArrayDimension {
	if s == nil {
		return nil
	}
	return []pgtype.ArrayDimension{{Length: int32(len(s)), LowerBound: 1}}
}

func (s slice) Index(i int) any { return &s[i] }

func (s slice) IndexType() any { return (*sqltype.ID)(nil) }

// SetDimensions makes a new slice, which is nil for NULL. Several dimensions become one, as in pgx
// for every plain slice. pgx has compared the size with the data before.
func (s *slice) SetDimensions(dimensions []pgtype.ArrayDimension) error {
	if dimensions == nil {
		*s = nil
		return nil
	}
	n := min(len(dimensions), 1)
	for _, d := range dimensions {
		n *= int(d.Length)
	}
	*s = make(slice, max(n, 0))
	return nil
}

func (s slice) ScanIndex(i int) any { return &s[i] }

func (s slice) ScanIndexType() any { return new(sqltype.ID) }
