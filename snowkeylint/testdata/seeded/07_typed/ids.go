// Package typed gives the ids of a billing service types of their own.
package typed

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The ids of this service.
type (
	AccountID sqltype.ID           // FAULT 033 snowtype: a bare number in JSON, and no Scan; https://boldlygo.tech/archive/2023-07-21-types-with-methods/
	InvoiceID sqltype.Key[Invoice] // FAULT 034 snowtype: none of the methods of a Key, so it is a bare number in JSON
	PlanID    = sqltype.Key[Plan]  // OK 25: an alias has all methods
)

// AnyID is the type for references that may point to any table.
type AnyID = sqltype.ID

// EntryID is declared over an alias of ID.
type EntryID AnyID // FAULT 035 snowtype: declared over an alias, with the same loss; go-gorm/gorm#4501

// ParentID may be NULL.
type ParentID sqltype.NullID // FAULT 036 snowtype: a struct in JSON, and no Value: drivers refuse it

// Of is a reference to a row.
type Of[Row any] sqltype.Key[Row] // FAULT 037 snowtype: a generic type over Key has no methods either

// EntryIDs is a list.
type EntryIDs []sqltype.ID // OK 26: the elements keep their methods

// ByPlan finds an invoice by its plan.
type ByPlan map[PlanID]sqltype.ID // OK 27: keys and values keep theirs

// Source makes ids.
type Source interface{ sqltype.Source } // OK 28: an interface

type Plan struct {
	ID   PlanID `json:"id"`
	Name string `json:"name"`
}

type Account struct {
	ID    AccountID `json:"id" gorm:"primaryKey;autoIncrement:false;snowflake"` // ALSO 033: a field of it
	Owner string    `json:"owner"`
}

type Invoice struct {
	ID      InvoiceID   `json:"id"`      // ALSO 034: a field of it
	Account Of[Account] `json:"account"` // ALSO 037: a field of it
	Parent  ParentID    `json:"parent"`  // ALSO 036: a field of it
	Due     time.Time   `json:"due"`
}

// Entry is a line of the ledger.
type Entry struct {
	ID    EntryID `json:"id"` // ALSO 035: a field of it
	Cents int64   `json:"cents"`
}
