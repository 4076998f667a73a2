package graph_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Letter has columns of different lengths.
type Letter struct {
	ID      sqltype.ID
	Subject string
	Body    *string
	Scan    []byte
	From    sql.NullString
	Meta    json.RawMessage
	Tags    stringList
	SentAt  time.Time
	*Attachment
}

type Attachment struct{ File []byte }

type stringList []string

func (l stringList) Value() (driver.Value, error) { return strings.Join(l, ","), nil }

// Hidden has a column whose length is not known before its Value method is called.
type Hidden struct {
	ID    sqltype.ID
	Notes map[string]string `gorm:"serializer:json"`
}

// Wide has many columns of known lengths.
type Wide struct {
	ID                                      sqltype.ID
	C1, C2, C3, C4, C5, C6, C7, C8, C9, C10 int
}

// Dated has columns of structs whose length is known.
type Dated struct {
	ID        sqltype.ID
	CreatedAt *time.Time
	DeletedAt gorm.DeletedAt
	Parent    sqltype.NullID
}

// How the rows are divided, if the caller says nothing, and if the caller does.
func TestRowsOfAnInsert(t *testing.T) {
	text := func(n int) *string { s := strings.Repeat("x", n); return &s }
	half := 1 << 20 // two such texts are too long for one INSERT, with the other columns
	pair := func(a, b Letter) []Letter { return []Letter{a, b, {}} }
	for name, c := range map[string]struct {
		rows  any
		with  func(db *gorm.DB) *gorm.DB
		batch int
		want  string // the rows of each statement
	}{
		"narrow rows":            {rows: make([]Item, 5000), want: "[5000]"},
		"wide rows":              {rows: make([]Wide, 2000), want: "[1489 511]"},
		"BatchSize":              {rows: make([]Item, 500), batch: 200, want: "[200 200 100]"},
		"CreateBatchSize":        {rows: make([]Item, 5), with: func(db *gorm.DB) *gorm.DB { return db.Session(&gorm.Session{CreateBatchSize: 2}) }, want: "[2 2 1]"},
		"BatchSize above limits": {rows: make([]Letter, 8000), batch: 8000, want: "[7274 726]"},
		"hooks":                  {rows: make([]Line, 1500), want: "[1000 500]"},
		"a Valuer":               {rows: make([]Letter, 1500), want: "[1000 500]"},
		"a serializer":           {rows: make([]Hidden, 1500), want: "[1000 500]"},
		"times and NULLs":        {rows: make([]Dated, 1500), want: "[1500]"},
		"strings":                {rows: pair(Letter{Subject: *text(half)}, Letter{Subject: *text(half)}), want: "[1 2]"},
		"pointers":               {rows: pair(Letter{Body: text(half)}, Letter{Body: text(half)}), want: "[1 2]"},
		"bytes":                  {rows: pair(Letter{Scan: make([]byte, half)}, Letter{Scan: make([]byte, half)}), want: "[1 2]"},
		"raw JSON":               {rows: pair(Letter{Meta: make([]byte, half)}, Letter{Body: text(half)}), want: "[1 2]"},
		"embedded pointers":      {rows: pair(Letter{Attachment: &Attachment{make([]byte, half)}}, Letter{Body: text(half)}), want: "[1 2]"},
		"a row that is too long": {rows: []Letter{{}, {Body: text(4 * half)}, {}, {}}, want: "[1 1 2]"},
		"long rows, BatchSize":   {rows: pair(Letter{Body: text(half)}, Letter{Body: text(half)}), batch: 3, want: "[1 2]"},
	} {
		for _, d := range gormtest.Dialects() {
			db, _ := d.Mock(t, &gormtest.Counter{})
			db = db.Session(&gorm.Session{DryRun: true})
			if c.with != nil {
				db = c.with(db)
			}
			result, err := graph.CreateWith(t.Context(), db, c.rows, graph.Config{BatchSize: c.batch})
			if err != nil {
				t.Errorf("%s, %s: %v", name, d.Name, err)
				continue
			}
			var got []int
			for _, s := range result.Statements {
				got = append(got, strings.Count(s.SQL, "),(")+1)
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("%s, %s: %v rows, want %s", name, d.Name, got, c.want)
			}
		}
	}
	// A database of which nothing is known.
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	result, err := graph.CreateWith(context.Background(), db, make([]Item, 2500), graph.Config{})
	if err != nil || result.Tables[0].Inserts != 3 {
		t.Errorf("%+v, %v", result.Tables, err)
	}
}
