package ddl

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// The SQL for partitions in docs/ddl.md can be executed in its order, and does what the document
// says.
func TestDocumentedStatements(t *testing.T) {
	blocks := documented(t, "Without blocking writers")
	if len(blocks) != 1 {
		t.Fatalf("%d blocks", len(blocks))
	}
	s := openPostgres(t)
	s.SetMaxOpenConns(2)
	s.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, note text) PARTITION BY RANGE (id)", "CREATE TABLE orders_rest PARTITION OF orders DEFAULT",
		"INSERT INTO orders VALUES (5, 'a'), (2116681624581046272, 'b'), (2127553260549046271, 'c')")

	// Rows of the default partition.
	p := ddl.Partitioning{Dialect: s.dialect, Table: "orders", By: ddl.Month}
	have, err := p.Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	s.run(t, script(t)(p.Extend(have, first, first.AddDate(0, 1, 0)))...)
	if got := holds(t, s, "orders", "orders_p202611"); got != "2 2116681624581046272 2127553260549046271" {
		t.Errorf("the partition holds %s", got)
	}
	s.run(t, "ALTER TABLE orders DETACH PARTITION orders_rest")

	// Attached while a transaction has written, which a plain partition waits for.
	writer, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Rollback() }()
	if _, err := writer.Exec("INSERT INTO orders VALUES (2116681624581046273, 'd')"); err != nil {
		t.Fatal(err)
	}
	s.run(t, "SET lock_timeout = '300ms'")
	if err := exec(s, ddl.Script{"CREATE TABLE plain PARTITION OF orders FOR VALUES FROM (1) TO (2)"}); err == nil || !strings.Contains(err.Error(), "lock timeout") {
		t.Errorf("a plain partition: %v", err)
	}
	s.run(t, statements(blocks[0])...)
	s.run(t, "INSERT INTO orders VALUES (2127553260549046272, 'e')", "SET lock_timeout = 0")
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}

	if have, err = p.Read(t.Context(), s); err != nil || names(p, have) != "p202611 p202612" {
		t.Errorf("%v, %v", have, err)
	}
}

func statements(block string) []string { return strings.Split(strings.TrimSuffix(block, ";"), ";\n") }
