package serial

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var errAnswerLost = errors.New("the answer was lost on purpose")

// unreliable is a counter that loses requests, and answers, and delays both. lost is how many numbers
// were in the answers.
type unreliable struct {
	serial.Counter
	lost atomic.Int64
}

func (u *unreliable) Reserve(ctx context.Context, key string, n int64) (int64, error) {
	switch rand.IntN(12) {
	case 0:
		return 0, errAnswerLost
	case 1, 2:
		first, err := u.Counter.Reserve(ctx, key, n)
		if err != nil {
			return first, err
		}
		u.lost.Add(n)
		return 0, errAnswerLost
	case 3:
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	}
	return u.Counter.Reserve(ctx, key, n)
}

// Many Segments of different Blocks draw at once from one counter, which loses requests and answers;
// callers give up. No id is issued twice, those of one Segments ascend, and when they stop no more ids
// are skipped than lost answers and Blocks.
func TestSegments(t *testing.T) {
	const goroutines, each, largest = 3, 40, 300
	onEvery(t, func(t *testing.T, e engine) {
		key := code()
		var mu sync.Mutex
		seen := map[int64]bool{}
		var wg sync.WaitGroup
		var counters []*unreliable
		bound := int64(0)
		for _, block := range []int64{1, 2, 7, 100, 1000} {
			bound += max(block, largest)
			c := &unreliable{Counter: e.counter(t)}
			counters = append(counters, c)
			s, err := serial.NewSegments(serial.SegmentsConfig{Counter: c, Key: key, Block: block, Timeout: patience})
			must(t, err)
			var high atomic.Int64 // the highest id that a call has returned
			for range goroutines {
				wg.Go(func() {
					for range each {
						ids := make([]int64, 1+rand.IntN(largest))
						if rand.IntN(2) == 0 {
							ids = ids[:1]
						}
						before := high.Load()
						err := draw(t.Context(), s, ids)
						if err != nil && !errors.Is(err, errAnswerLost) && !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
						mu.Lock()
						for _, id := range ids {
							switch {
							case err != nil && id == 0: // none was issued
							case err != nil || id <= before || seen[id]:
								t.Errorf("%d after %d, seen %v, %v", id, before, seen[id], err)
							default:
								seen[id], before = true, id
								high.Store(max(id, high.Load()))
							}
						}
						mu.Unlock()
					}
				})
			}
		}
		wg.Wait()
		var last, lost int64
		for i, c := range counters {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			first, err := c.Counter.Reserve(ctx, key, 1)
			must(t, err)
			last, lost = first-1-int64(i), lost+c.lost.Load()
		}
		skipped := last - int64(len(seen)) - lost
		if skipped < 0 || skipped > bound {
			t.Errorf("%d reserved, %d issued, %d lost: %d are skipped, at most %d may be", last, len(seen), lost, skipped, bound)
		}
		t.Logf("%d issued, %d lost, %d skipped", len(seen), lost, skipped)
	})
}

// draw sometimes gives up.
func draw(ctx context.Context, s *serial.Segments, ids []int64) (err error) {
	if rand.IntN(5) == 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(3000))*time.Microsecond)
		defer cancel()
	}
	if len(ids) == 1 {
		ids[0], err = s.Next(ctx)
		return err
	}
	return s.Fill(ctx, ids)
}

// A row with a key of Segments.
type ticket struct {
	ID    sqltype.ID `gorm:"primaryKey"`
	Title string
}

// Segments are the Source of the plugin. In SQLite, whose transactions of GORM are the one writer of
// their file, the counter has a file of its own.
func TestSegmentsInGORM(t *testing.T) {
	onEverySQL(t, func(t *testing.T, e engine) {
		dialector := map[string]func(string) gorm.Dialector{"sqlite": sqlite.Open, "pgx": postgres.Open, "mysql": mysql.Open}[e.driver]
		db, err := gorm.Open(dialector(e.dsn), &gorm.Config{Logger: logger.Discard})
		must(t, err)
		pool, err := db.DB()
		must(t, err)
		t.Cleanup(func() { _ = pool.Close() })
		must(t, db.AutoMigrate(&ticket{}))
		if e.driver == "sqlite" {
			e.dsn = sqliteIn(t, "wal")
		}
		s, err := serial.NewSegments(serial.SegmentsConfig{Counter: e.counter(t), Key: "tickets", Block: 10})
		must(t, err)
		must(t, db.Use(gormplugin.New(gormplugin.Config{Source: s})))
		db = db.WithContext(t.Context())
		for range 3 {
			must(t, db.Create(&ticket{}).Error)
		}
		batch := make([]ticket, 30)
		must(t, db.Create(&batch).Error)
		for i, row := range batch {
			if row.ID != sqltype.ID(i+4) {
				t.Errorf("row %d has the id %v", i, row.ID)
			}
		}
	})
}

// Segments are the Source of a load.
func TestSegmentsInLoad(t *testing.T) {
	e := engine{driver: "pgx", dsn: testserver.Database(t, "pgx", testserver.Postgres(t).DSN)}
	pool, err := pgxpool.New(t.Context(), e.dsn)
	must(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), "CREATE TABLE tickets (id bigint PRIMARY KEY, title text)")
	must(t, err)
	s, err := serial.NewSegments(serial.SegmentsConfig{Counter: e.counter(t), Key: "tickets"})
	must(t, err)
	_, err = pgxload.LoadWith(t.Context(), pool, pgxload.Config{Source: s}, func(w *pgxload.Writer) error {
		table := w.Table("tickets", "id", "title")
		for range 2500 {
			table.Row(w.NextID(), "a")
		}
		return nil
	})
	must(t, err)
	var rows, most int64
	must(t, pool.QueryRow(t.Context(), "SELECT count(*), max(id) FROM tickets").Scan(&rows, &most))
	if rows != 2500 || most < 2500 || most > 4000 {
		t.Errorf("%d rows, up to %d", rows, most)
	}
}
