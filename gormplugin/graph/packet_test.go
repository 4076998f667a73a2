package graph_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Essay is a row that may be long.
type Essay struct {
	ID    sqltype.ID
	Text  string
	Notes []Footnote
}

// Footnote is a narrow one, of which an essay may have many.
type Footnote struct {
	ID      sqltype.ID
	EssayID sqltype.ID `gorm:"index"`
}

// Rows of which a thousand are longer than a packet may be on MySQL and MariaDB, and more short
// ones than one statement takes. All are written, and every reference leads to a row.
func TestGraphOfLongRows(t *testing.T) {
	server := testserver.New(t, testserver.KindMariaDB, "--max-allowed-packet=4M") // the least default of any version
	for _, interpolate := range []bool{false, true} {
		t.Run(fmt.Sprint("packets of 4 MiB/interpolate=", interpolate), func(t *testing.T) {
			cfg := databases.FreshMySQL(t, server.DSN)
			cfg.InterpolateParams = interpolate
			longRows(t, mysql.New(mysql.Config{DSNConfig: cfg}))
		})
	}
}

// One row above max_allowed_packet cannot be written. The error says so, whether the client or the
// server refuses it, or the server closes the connection.
func TestRowsAboveThePacket(t *testing.T) {
	server := testserver.New(t, testserver.KindMariaDB, "--max-allowed-packet=1M")
	for _, interpolate := range []bool{false, true} {
		for _, client := range []int{0, 500_000, 512 << 20} { // 0: as the server says
			cfg := databases.FreshMySQL(t, server.DSN)
			cfg.InterpolateParams, cfg.MaxAllowedPacket = interpolate, client
			db := graphHandle(t, mysql.New(mysql.Config{DSNConfig: cfg}), nil, nil, &Essay{}, &Footnote{})
			for _, size := range []int{1_000_000, 1_100_000, 3 << 20, 17 << 20} {
				essay := &Essay{Text: strings.Repeat("'", size), Notes: make([]Footnote, 2)}
				err := graph.Create(t.Context(), db, essay)
				if err == nil && size > 1<<20 || err != nil && (essay.ID != 0 || !strings.Contains(err.Error(), "see max_allowed_packet")) {
					t.Errorf("interpolate %v, the client's %d, a row of %d bytes: %v", interpolate, client, size, err)
				}
			}
		}
	}
}

func longRows(t *testing.T, d gorm.Dialector) {
	t.Helper()
	db := graphHandle(t, d, nil, nil, &Essay{}, &Footnote{})
	const essays, notes, size = 1000, 10, 20_000
	rows := make([]Essay, essays)
	for i := range rows {
		rows[i].Text = strings.Repeat("'", size) // twice as long in a statement
		rows[i].Notes = make([]Footnote, notes)
	}
	result, err := graph.CreateWith(t.Context(), db, rows, graph.Config{})
	must(t, err)
	for i, n := range []int{essays, essays * notes} {
		if table := result.Tables[i]; table.RowsAffected != int64(n) {
			t.Errorf("%+v, want %d rows", table, n)
		}
	}
	counts(t, db, "SELECT COUNT(*) FROM essays WHERE LENGTH(text) = ?", []any{size}, essays)
	counts(t, db, "SELECT COUNT(*) FROM footnotes JOIN essays ON essays.id = essay_id", nil, essays*notes)
}

func counts(t *testing.T, db *gorm.DB, query string, args []any, want int) {
	t.Helper()
	var n sql.NullInt64
	if err := db.Raw(query, args...).Scan(&n).Error; err != nil || n.Int64 != int64(want) {
		t.Errorf("%s: %d, %v; want %d", query, n.Int64, err, want)
	}
}
