// Package snoworder orders ids as texts.
package snoworder

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"sort"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Order struct {
	ID     sqltype.ID
	Parent sqltype.Key[Order]
	Ticket sqltype.Key[Ticket]
	Total  int64
}

type Ticket struct{ ID sqltype.Key[Ticket] }

func (*Ticket) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "tkt"} }

func compare(a, b Order) {
	_ = a.ID.String() < b.ID.String()                                            // want `< compares ids as decimal texts`
	_ = strings.Compare(a.ID.String(), b.ID.String())                            // want `strings.Compare compares ids as decimal texts`
	_ = cmp.Compare(a.Parent.String(), b.Parent.String())                        // want `cmp.Compare compares ids as decimal texts`
	_ = strconv.FormatInt(int64(a.ID), 10) >= strconv.FormatInt(int64(b.ID), 10) // want `>= compares ids as decimal texts`
	_ = a.ID.String() == b.ID.String()
	_ = a.ID < b.ID
	_ = a.ID.Base62() < b.ID.Base62()
	_ = a.Ticket.String() < b.Ticket.String() // 13 digits
	_ = strconv.FormatInt(a.Total, 10) < strconv.FormatInt(b.Total, 10)
}

// row has the text of an id.
type row struct{ id, note string }

func sorted(orders []Order) []string {
	var texts []string
	var rows []row
	for _, o := range orders {
		texts = append(texts, o.ID.String())
		rows = append(rows, row{id: o.ID.String(), note: "n"})
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].id < rows[j].id }) // want `< compares ids as decimal texts`
	sort.Slice(rows, func(i, j int) bool { return rows[i].note < rows[j].note })
	slices.Sort(texts)                      // want `slices.Sort sorts ids as decimal texts`
	sort.Strings(texts)                     // want `sort.Strings sorts ids as decimal texts`
	slices.SortFunc(texts, strings.Compare) // want `slices.SortFunc sorts ids as decimal texts`
	slices.SortFunc(orders, func(a, b Order) int { return a.ID.Compare(b.ID) })
	return texts
}

const newest = `SELECT id, note FROM orders ORDER BY id::text DESC`

func query(ctx context.Context, db *sql.DB, after sqltype.ID) {
	_, _ = db.QueryContext(ctx, newest)                                                     // want `the statement orders ids as decimal texts`
	_, _ = db.QueryContext(ctx, "SELECT * FROM orders ORDER BY CAST(order_id AS char)")     // want `the statement orders ids as decimal texts`
	_, _ = db.QueryContext(ctx, "SELECT * FROM orders WHERE id::text > $1", after.String()) // want `the statement orders ids as decimal texts`
	_, _ = db.QueryContext(ctx, "SELECT id::text FROM orders WHERE id::text = $1 ORDER BY id")
	_, _ = db.QueryContext(ctx, "SELECT * FROM orders ORDER BY note::text, id")
}

type Mail struct {
	ID   string `gorm:"primaryKey;size:19;snowflake"`
	Note string
}

type Folder struct {
	ID string `gorm:"primaryKey;size:11;snowflake:base62"`
}

func find(db *gorm.DB) {
	var mails []Mail
	var folders []Folder
	db.Order("id DESC").Find(&mails)                 // want `the column id has ids as decimal texts`
	db.Model(&Mail{}).Order("mails.id").Find(&mails) // want `the column id has ids as decimal texts`
	db.Order("note").Find(&mails)
	db.Order("id").Find(&folders)
}
