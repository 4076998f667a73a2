package inserts

import (
	"database/sql"
	"testing"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
)

// BenchmarkMasterDetail writes parents with ten children each, in plain SQL: one
// INSERT for the parents and one for the children, in one transaction. A key that
// the database makes comes back by RETURNING, and the client waits for it. That
// RETURNING has the order of the rows is promised by none of the three.
func BenchmarkMasterDetail(b *testing.B) {
	onEach(b, func(b *testing.B, e *database.Engine) {
		for _, k := range scale.Rotate(b, database.Keys()) {
			b.Run("key="+k.Name, func(b *testing.B) { masterDetail(b, e, k) })
		}
	})
}

const masters, detailsEach = 100, 10

func masterDetail(b *testing.B, e *database.Engine, k database.Key) {
	times := scale.Pick(b, 1, 20)
	var w written
	statements := 0
	for b.Loop() {
		b.StopTimer()
		g := newGraphWriter(b, e, k)
		e.Settle(b)
		before := e.Log(b)
		b.StartTimer()
		for range times {
			n, err := g.write(b)
			if err != nil {
				b.Fatal(err)
			}
			statements += n
		}
		b.StopTimer()
		w.add(b, e, before, int64(times*masters*(1+detailsEach)), g.master, g.detail)
		e.Exec(b, "DROP TABLE "+g.detail, "DROP TABLE "+g.master)
		b.StartTimer()
	}
	w.report(b, e)
	b.ReportMetric(float64(statements)/float64(b.N*times), "stmts/op")
}

type graphWriter struct {
	e                       *database.Engine
	key                     database.Key
	maker                   *database.Maker
	master, detail          string
	insertMaster, insertDet string
}

func newGraphWriter(b *testing.B, e *database.Engine, k database.Key) *graphWriter {
	b.Helper()
	g := &graphWriter{e: e, key: k, maker: e.Maker(b, k), master: e.Fresh("master"), detail: e.Fresh("detail")}
	e.Exec(b, e.Create(g.master, k, "name varchar(40) NOT NULL", "")...)
	e.Exec(b, e.Create(g.detail, k, "position integer NOT NULL, text varchar(40) NOT NULL", g.master)...)
	g.insertMaster = e.Insert(g.master, k, []string{"name"}, masters, k.Auto())
	g.insertDet = e.Insert(g.detail, k, []string{"master_id", "position", "text"}, masters*detailsEach, false)
	return g
}

// write is one transaction; it gives the number of statements, BEGIN and COMMIT
// left out.
func (g *graphWriter) write(b *testing.B) (statements int, err error) {
	tx, err := g.e.DB.BeginTx(b.Context(), nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // it has been committed, or an error is on its way already
	keys := make([]any, masters*(1+detailsEach))
	if !g.key.Auto() {
		if err := g.maker.Fill(keys); err != nil {
			return 0, err
		}
	}
	var args []any
	for i := range masters {
		if !g.key.Auto() {
			args = append(args, keys[i])
		}
		args = append(args, "a master")
	}
	if err := g.writeMasters(b, tx, args, keys[:masters]); err != nil {
		return 0, err
	}
	args = args[:0]
	for i := range masters * detailsEach {
		if !g.key.Auto() {
			args = append(args, keys[masters+i])
		}
		args = append(args, keys[i/detailsEach], i%detailsEach, "a detail")
	}
	if _, err := tx.ExecContext(b.Context(), g.insertDet, args...); err != nil {
		return 0, err
	}
	return 2, tx.Commit()
}

// writeMasters puts the keys that the database made into keys.
func (g *graphWriter) writeMasters(b *testing.B, tx *sql.Tx, args, keys []any) error {
	if !g.key.Auto() {
		_, err := tx.ExecContext(b.Context(), g.insertMaster, args...)
		return err
	}
	rows, err := tx.QueryContext(b.Context(), g.insertMaster, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		var key int64
		if err := rows.Scan(&key); err != nil {
			return err
		}
		keys[i] = key
	}
	return rows.Err()
}
