package ddl

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// The SQL of docs/partitions.md can be executed in its order, and does what the document says.
func TestDocumentedStatements(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "partitions.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)\n```sql\n(.*?)\n```\n").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) != 4 {
		t.Fatalf("%d blocks", len(blocks))
	}
	s := openPostgres(t)
	s.SetMaxOpenConns(2)
	s.run(t, "CREATE TABLE orders (id bigint PRIMARY KEY, note text) PARTITION BY RANGE (id)", "CREATE TABLE orders_rest PARTITION OF orders DEFAULT",
		"INSERT INTO orders VALUES (5, 'a'), (2116681624581046272, 'b'), (2127553260549046271, 'c')")

	// The default partition. The block is what Extend writes.
	p := ddl.Partitioning{Dialect: s.dialect, Table: "orders", By: ddl.Month}
	have, err := p.Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	if want := script(t)(p.Extend(have, first, first.AddDate(0, 1, 0))); want.String() != blocks[0]+"\n" {
		t.Errorf("the document has\n%s\nwant\n%s", blocks[0], want)
	}
	s.run(t, blocks[0])
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
	s.run(t, statements(blocks[1])...)
	s.run(t, "INSERT INTO orders VALUES (2127553260549046272, 'e')", "SET lock_timeout = 0")
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}

	s.run(t, statements(blocks[2])...)
	if have, err = p.Read(t.Context(), s); err != nil || names(p, have) != "p202612" {
		t.Errorf("%v, %v", have, err)
	}
	s.run(t, statements(blocks[3])...)
	if !one[bool](t, s, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'orders_note'::regclass") {
		t.Error("the index of the table is not valid")
	}
	s.run(t, fmt.Sprint(script(t)(p.Create([]ddl.Partition{{Name: "next", Min: 2138787284382646272, Max: 2138787284382646273}}))))
	if n := one[int](t, s, "SELECT count(*) FROM pg_indexes WHERE tablename = 'next' AND schemaname = current_schema"); n != 2 {
		t.Errorf("a new partition has %d indexes", n)
	}
}

func statements(block string) []string { return strings.Split(strings.TrimSuffix(block, ";"), ";\n") }
