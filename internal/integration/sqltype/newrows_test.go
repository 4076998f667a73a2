package sqltype

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// "Reading new rows by id" of docs/sql.md: a transaction may commit after one whose id is higher, so
// a reader that continues after the highest id it has read loses rows. One that continues after the
// highest number of a sequencer loses none, and reads none twice.
func TestReadingNewRows(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		if !d.Usual {
			return
		}
		db, q := plain(t, d)
		for _, statement := range []string{
			"CREATE TABLE events (id BIGINT PRIMARY KEY, seq BIGINT UNIQUE)",
			"CREATE TABLE event_seq (one INT PRIMARY KEY, last BIGINT NOT NULL)",
			"INSERT INTO event_seq VALUES (1, 0)",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		gen := databases.Generator(t, 1)
		byID := newReader(db, q("SELECT id, id FROM events WHERE id > ? ORDER BY id"))
		bySeq := newReader(db, q("SELECT seq, id FROM events WHERE seq > ? ORDER BY seq"))
		read := func() {
			t.Helper()
			for _, step := range []func(context.Context) error{
				func(ctx context.Context) error { return number(ctx, db, q, d.Name == "sqlite") }, byID.read, bySeq.read,
			} {
				if err := step(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		// The first id is committed after the second one was read.
		late := newID(t, gen)
		written := []sqltype.ID{late, newID(t, gen)}
		if err := insert(t.Context(), db, q, written[1], 0); err != nil {
			t.Fatal(err)
		}
		read()
		if err := insert(t.Context(), db, q, late, 0); err != nil {
			t.Fatal(err)
		}
		read()

		var mu sync.Mutex
		var writers sync.WaitGroup
		for range 6 {
			writers.Go(func() {
				for range 40 {
					id := newID(t, gen)
					if err := insert(t.Context(), db, q, id, rand.N(4*time.Millisecond)); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					written = append(written, id)
					mu.Unlock()
				}
			})
		}
		over := make(chan struct{})
		go func() { writers.Wait(); close(over) }()
		for going := true; going; {
			select {
			case <-over:
				going = false
			default:
			}
			read()
		}
		lost := 0
		for _, id := range written {
			if byID.rows[id] == 0 {
				lost++
			}
			if n := bySeq.rows[id]; n != 1 {
				t.Errorf("row %d was read %d times by its number", id, n)
			}
		}
		if lost == 0 || byID.rows[late] != 0 {
			t.Errorf("the reader by id has lost %d rows: the test tests nothing", lost)
		}
		t.Logf("%d rows; the reader by id lost %d", len(written), lost)
	})
}

// number numbers the rows that are committed and have no number yet. The lock on event_seq is held
// until the commit, so a reader that sees a number sees all lower ones.
func number(ctx context.Context, db *sql.DB, q func(string) string, sqlite bool) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	lock := "SELECT last FROM event_seq WHERE one = 1 FOR UPDATE"
	if sqlite { // BEGIN IMMEDIATE has locked the file
		lock = "SELECT last FROM event_seq WHERE one = 1"
	}
	var last int64
	if err := tx.QueryRowContext(ctx, lock).Scan(&last); err != nil {
		return err
	}
	ids, err := column(ctx, tx, "SELECT id FROM events WHERE seq IS NULL ORDER BY id LIMIT 1000")
	if err != nil {
		return err
	}
	for _, id := range ids {
		last++
		if _, err := tx.ExecContext(ctx, q("UPDATE events SET seq = ? WHERE id = ?"), last, id); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, q("UPDATE event_seq SET last = ? WHERE one = 1"), last); err != nil {
		return err
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

func column(ctx context.Context, tx *sql.Tx, query string) (ids []sqltype.ID, err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id sqltype.ID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// insert writes a row in a transaction that takes so long.
func insert(ctx context.Context, db *sql.DB, q func(string) string, id sqltype.ID, takes time.Duration) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	if _, err := tx.ExecContext(ctx, q("INSERT INTO events (id) VALUES (?)"), id); err != nil {
		return err
	}
	time.Sleep(takes)
	return tx.Commit()
}

func newID(t *testing.T, gen *core.Generator) sqltype.ID {
	id, err := sqltype.NextID(t.Context(), gen)
	if err != nil {
		t.Error(err)
	}
	return id
}

// A reader reads the rows after its position, and moves to the last one.
type reader struct {
	db    *sql.DB
	query string
	at    int64
	rows  map[sqltype.ID]int // how often each was read
}

func newReader(db *sql.DB, query string) *reader {
	return &reader{db: db, query: query, rows: map[sqltype.ID]int{}}
}

func (r *reader) read(ctx context.Context) (err error) {
	rows, err := r.db.QueryContext(ctx, r.query, r.at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id sqltype.ID
		if err := rows.Scan(&r.at, &id); err != nil {
			return err
		}
		r.rows[id]++
	}
	return rows.Err()
}
