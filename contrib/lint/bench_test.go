package lint_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkRules runs all rules on a package of 50,000 lines, and on all that it imports. Parsing
// and checking types is not part of it: every driver does that once for all analyzers.
func BenchmarkRules(b *testing.B) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		b.Fatal(err)
	}
	text, lines := bigPackage(50_000)
	pkgs := load(b, dir, map[string][]byte{filepath.Join(dir, "src", "big", "big.go"): text}, "./src/big")
	b.ReportMetric(float64(lines), "lines")
	for b.Loop() {
		if n := len(analyze(b, pkgs)); n == 0 {
			b.Fatal("no report")
		}
	}
}

// bigPackage returns a package with models, views, handlers and queries, one of which has faults.
func bigPackage(least int) (text []byte, lines int) {
	var s strings.Builder
	s.WriteString(`package big

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Service struct {
	db  *sql.DB
	gen *core.Generator
}

type Faulty struct {
	ID int64 ` + "`gorm:\"primaryKey;autoIncrement:false;snowflake\" json:\"id\"`" + `
}
`)
	for lines = strings.Count(s.String(), "\n"); lines < least; lines += strings.Count(part, "\n") {
		s.WriteString(strings.NewReplacer("@", fmt.Sprint(lines)).Replace(part))
	}
	return []byte(s.String()), lines
}

const part = `
type Order@ struct {
	ID       int64      ` + "`gorm:\"primaryKey;autoIncrement:false;snowflake\" json:\"id,string\"`" + `
	Customer sqltype.ID ` + "`json:\"customer\"`" + `
	Note     string     ` + "`gorm:\"size:40\" json:\"note\"`" + `
	Lines    []Line@    ` + "`json:\"lines\"`" + `
}

type Line@ struct {
	ID      sqltype.Key[Line@] ` + "`json:\"id\"`" + `
	Order@ID int64              ` + "`json:\"order_id,string\"`" + `
	Pieces  int32              ` + "`json:\"pieces\"`" + `
}

func (*Line@) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "line"} }

func (s *Service) create@(ctx context.Context, note string) (*Order@, error) {
	id, err := s.gen.Next(ctx)
	if err != nil {
		return nil, err
	}
	customer, err := sqltype.NextID(ctx, s.gen)
	if err != nil {
		return nil, err
	}
	o := &Order@{ID: id, Customer: customer, Note: note}
	if _, err := s.db.ExecContext(ctx, "INSERT INTO orders (id, customer, note) VALUES ($1, $2, $3)", o.ID, o.Customer, o.Note); err != nil {
		return nil, err
	}
	return o, nil
}

func (s *Service) handle@(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	after, err := sqltype.Parse(r.URL.Query().Get("after"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	orders, err := s.find@(r.Context(), after, limit)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"orders": orders, "count": len(orders)}); err != nil {
		panic(err)
	}
}

func (s *Service) find@(ctx context.Context, after sqltype.ID, limit int) (list []Order@, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, customer, note FROM orders WHERE id > $1 ORDER BY id LIMIT $2", after, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var o Order@
		if err := rows.Scan(&o.ID, &o.Customer, &o.Note); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b Order@) int { return a.Customer.Compare(b.Customer) })
	return list, rows.Err()
}
`
