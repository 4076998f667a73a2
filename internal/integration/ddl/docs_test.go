package ddl

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
)

// The SQL for partitions in docs/ddl.md can be executed in its order, and does what the document
// says.
func TestDocumentedStatements(t *testing.T) {
	blocks := engines.Documented(t, "ddl.md", "### Without blocking writers", 1)
	s := openPostgres(t)
	s.SetMaxOpenConns(2)
	s.Run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, note text) PARTITION BY RANGE (id)", "CREATE TABLE orders_rest PARTITION OF orders DEFAULT",
		"INSERT INTO orders VALUES (5, 'a'), (2116681624581046272, 'b'), (2127553260549046271, 'c')")

	// Rows of the default partition.
	p := ddl.Partitioning{Dialect: s.Dialect, Table: "orders", By: ddl.Month}
	have := ok(p.Read(t.Context(), s))(t)
	first := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	s.Run(t, ok(p.Extend(have, first, first.AddDate(0, 1, 0)))(t)...)
	if got := holds(t, s, "orders", "orders_p202611"); got != "2 2116681624581046272 2127553260549046271" {
		t.Errorf("the partition holds %s", got)
	}
	s.Run(t, "ALTER TABLE orders DETACH PARTITION orders_rest")

	// Attached while a transaction has written, which a plain partition waits for.
	writer := ok(s.Begin())(t)
	defer func() { _ = writer.Rollback() }()
	if _, err := writer.Exec("INSERT INTO orders VALUES (2116681624581046273, 'd')"); err != nil {
		t.Fatal(err)
	}
	s.Run(t, "SET lock_timeout = '300ms'")
	if err := s.Try("CREATE TABLE plain PARTITION OF orders FOR VALUES FROM (1) TO (2)"); err == nil || !strings.Contains(err.Error(), "lock timeout") {
		t.Errorf("a plain partition: %v", err)
	}
	s.Run(t, statements(blocks[0])...)
	s.Run(t, "INSERT INTO orders VALUES (2127553260549046272, 'e')", "SET lock_timeout = 0")
	engines.Must(t, writer.Commit())

	if have, err := p.Read(t.Context(), s); err != nil || names(p, have) != "p202611 p202612" {
		t.Errorf("%v, %v", have, err)
	}
}

func statements(block string) []string { return strings.Split(strings.TrimSuffix(block, ";"), ";\n") }
