package sqltype

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

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
		db := databases.Handle(t, d)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(db.Exec("CREATE TABLE events (id BIGINT PRIMARY KEY, seq BIGINT UNIQUE)").Error)
		must(db.Exec("CREATE TABLE event_seq (one INT PRIMARY KEY, last BIGINT NOT NULL)").Error)
		must(db.Exec("INSERT INTO event_seq VALUES (1, 0)").Error)
		byID := &reader{query: "SELECT id AS at, id FROM events WHERE id > ? ORDER BY id", rows: map[sqltype.ID]int{}}
		bySeq := &reader{query: "SELECT seq AS at, id FROM events WHERE seq > ? ORDER BY seq", rows: map[sqltype.ID]int{}}
		read := func() {
			t.Helper()
			must(number(db, d.Name == "sqlite"))
			must(byID.read(db))
			must(bySeq.read(db))
		}
		gen := databases.Generator(t, 1)
		newID := func() sqltype.ID {
			id, err := sqltype.NextID(t.Context(), gen)
			if err != nil {
				t.Error(err)
			}
			return id
		}
		// The first id is committed after the second one was read.
		late := newID()
		written := []sqltype.ID{late, newID()}
		must(insert(db, written[1], 0))
		read()
		must(insert(db, late, 0))
		read()

		var mu sync.Mutex
		var writers sync.WaitGroup
		for range 6 {
			writers.Go(func() {
				for range 40 {
					id := newID()
					if err := insert(db, id, rand.N(4*time.Millisecond)); err != nil {
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
func number(db *gorm.DB, sqlite bool) error {
	return db.Transaction(func(tx *gorm.DB) error {
		lock := "SELECT last FROM event_seq WHERE one = 1 FOR UPDATE"
		if sqlite { // BEGIN IMMEDIATE has locked the file
			lock = "SELECT last FROM event_seq WHERE one = 1"
		}
		var last int64
		var ids []sqltype.ID
		if err := tx.Raw(lock).Scan(&last).Error; err != nil {
			return err
		}
		if err := tx.Raw("SELECT id FROM events WHERE seq IS NULL ORDER BY id LIMIT 1000").Scan(&ids).Error; err != nil {
			return err
		}
		for _, id := range ids {
			last++
			if err := tx.Exec("UPDATE events SET seq = ? WHERE id = ?", last, id).Error; err != nil {
				return err
			}
		}
		return tx.Exec("UPDATE event_seq SET last = ? WHERE one = 1", last).Error
	})
}

// insert writes a row in a transaction that takes so long.
func insert(db *gorm.DB, id sqltype.ID, takes time.Duration) error {
	return db.Transaction(func(tx *gorm.DB) error {
		err := tx.Exec("INSERT INTO events (id) VALUES (?)", id).Error
		time.Sleep(takes)
		return err
	})
}

// A reader reads the rows after its position, and moves to the last one.
type reader struct {
	query string
	at    int64
	rows  map[sqltype.ID]int // how often each was read
}

func (r *reader) read(db *gorm.DB) error {
	var rows []struct {
		At int64
		ID sqltype.ID
	}
	err := db.Raw(r.query, r.at).Scan(&rows).Error
	for _, row := range rows {
		r.at = row.At
		r.rows[row.ID]++
	}
	return err
}
