// Package archive reads archived mails, whose keys are texts in one of the tables.
package archive

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Mail has a decimal key. The mails of the first years have the numbers of the old system.
type Mail struct {
	ID      string `gorm:"primaryKey;size:19;snowflake"`
	Subject string
}

// Folder has a key of fixed width.
type Folder struct {
	ID   string `gorm:"primaryKey;type:char(11) COLLATE \"C\";snowflake:base62"`
	Name string
}

// Newest returns the newest mails.
func Newest(ctx context.Context, db *gorm.DB, n int) ([]Mail, error) {
	var list []Mail
	return list, db.WithContext(ctx).Order("id DESC").Limit(n).Find(&list).Error // FAULT 091 class 11: a text column of decimal keys; estuary/connectors#3976
}

// Folders returns the folders, the oldest first.
func Folders(ctx context.Context, db *gorm.DB) ([]Folder, error) {
	var list []Folder
	return list, db.WithContext(ctx).Order("id").Find(&list).Error // OK 71: a text column of fixed width with a binary collation
}

const page = `
	SELECT id::text, subject
	FROM mails_by_number
	ORDER BY id::text -- the index is on the text
	LIMIT 100`

// Page returns the subjects of a page.
func Page(ctx context.Context, pool *pgxpool.Pool) (map[string]string, error) {
	rows, err := pool.Query(ctx, page) // FAULT 092 class 11: the statement sorts by the text of a bigint; namehash/ensnode#2224
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	var id, subject string
	_, err = pgx.ForEachRow(rows, []any{&id, &subject}, func() error {
		out[id] = subject
		return nil
	})
	return out, err
}

// Since counts the mails after a key.
func Since(ctx context.Context, pool *pgxpool.Pool, last sqltype.ID) (n int64, err error) {
	err = pool.QueryRow(ctx, "SELECT count(*) FROM mails_by_number WHERE id::text > $1", last.String()).Scan(&n) // FAULT 093 class 11: a range of texts in the condition
	return n, err
}

// Named returns a mail's subject.
func Named(ctx context.Context, pool *pgxpool.Pool, id sqltype.ID) (subject string, err error) {
	err = pool.QueryRow(ctx, "SELECT subject FROM mails_by_number WHERE id::text = $1", id.String()).Scan(&subject) // OK 72: equality
	return subject, err
}
