package pgxtype

import (
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// slice is a []ID as a parameter for pgx's array codec. It returns the elements' addresses, because an ID in an
// interface would be copied to the heap, once per element.
type slice []sqltype.ID

var _ pgtype.ArrayGetter = slice(nil)

func (s slice) Dimensions() []pgtype.ArrayDimension {
	if s == nil {
		return nil
	}
	return []pgtype.ArrayDimension{{Length: int32(len(s)), LowerBound: 1}}
}

func (s slice) Index(i int) any { return &s[i] }

func (s slice) IndexType() any { return (*sqltype.ID)(nil) }
