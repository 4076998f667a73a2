//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/network"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A site is a writable node of PostgreSQL, the network that leads to it from the other one, and
// what writes to it.
type site struct {
	*testserver.Server
	link       *network.Link
	datacenter int64
	db         *sql.DB // of the database shop
	dsn        string
	sub        string // its subscription, whose slot is on the other node
}

// documented are the blocks of SQL of a section of docs/generator.md, in its order.
func documented(t *testing.T) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "generator.md"))
	must(t, err)
	_, section, _ := strings.Cut(string(text), "\n## Two writable PostgreSQL servers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range regexp.MustCompile("(?s)\n```sql\n(.*?)\n```\n").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) != 4 {
		t.Fatalf("the document has %d blocks of SQL, want 4", len(blocks))
	}
	return blocks
}

func settings(t *testing.T) string { return documented(t)[0] }
func tables(t *testing.T) string   { return documented(t)[1] }
func afresh(t *testing.T) string   { return documented(t)[3] }

// subscriptions are those of the first node and the second.
func subscriptions(t *testing.T) []string {
	first := documented(t)[2]
	return []string{first, strings.NewReplacer("from_second", "from_first", "10.0.0.2", "10.0.0.1").Replace(first)}
}

// newSites starts two nodes as docs/generator.md says, but for the subscriptions.
func newSites(t *testing.T) []*site {
	t.Helper()
	sites := make([]*site, 2)
	for i, sub := range []string{"from_second", "from_first"} {
		s := &site{
			Server: testserver.New(t, testserver.KindPostgres, "-c", "fsync=on", "-c", "wal_retrieve_retry_interval=100ms",
				"-c", "max_wal_size=4GB", "-c", "log_checkpoints=off"),
			datacenter: int64(i), sub: sub,
		}
		if s.External() {
			t.Fatal("SNOWKEY_TEST_POSTGRES must not be set: two servers are needed")
		}
		s.link = network.LinkTo(t, s.Addr)
		admin := openPostgres(t, s.DSN)
		var version int
		must(t, admin.QueryRow("SELECT CAST(current_setting('server_version_num') AS INTEGER)").Scan(&version))
		if version < 160000 {
			t.Fatalf("PostgreSQL %d has no origin = none: set SNOWKEY_TEST_POSTGRES_BIN to the programs of 16 or later", version/10000)
		}
		s.exec(t, admin, settings(t))
		must(t, s.Restart())
		s.exec(t, admin, "CREATE DATABASE shop")
		s.dsn = strings.Replace(s.DSN, "/postgres?", "/shop?", 1)
		s.db = openPostgres(t, s.dsn)
		for _, statement := range strings.SplitAfter(tables(t), ";\n") {
			s.exec(t, s.db, statement)
		}
		sites[i] = s
	}
	return sites
}

func openPostgres(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxIdleConns(0) // servers are restarted
	return db
}

func (s *site) exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// subscribe creates the subscriptions of the document, over the links.
func subscribe(t *testing.T, sites []*site) {
	t.Helper()
	for i, s := range sites {
		other, subscription := sites[1-i], subscriptions(t)[i]
		host, port, err := net.SplitHostPort(other.link.Addr)
		must(t, err)
		address := fmt.Sprintf("host=10.0.0.%d port=5432", 2-i)
		if !strings.Contains(subscription, address) || !strings.Contains(subscription, s.sub) {
			t.Fatalf("subscription %d is not %s at %s:\n%s", i, s.sub, address, subscription)
		}
		s.exec(t, s.db, strings.Replace(subscription, address, "host="+host+" port="+port, 1))
	}
}

// eventually waits until a query of the database answers true.
func (s *site) eventually(t *testing.T, query string, args ...any) {
	t.Helper()
	testserver.Eventually(t, 10*patience, func() error {
		var yes bool
		if err := s.db.QueryRowContext(t.Context(), query, args...).Scan(&yes); err != nil || !yes {
			return fmt.Errorf("%s: never %s, %w", s, query, err)
		}
		return nil
	})
}

// caughtUp waits until each node has applied all that the other has written.
func caughtUp(t *testing.T, sites []*site) time.Duration {
	t.Helper()
	began := time.Now()
	for i, s := range sites {
		var lsn string
		must(t, s.db.QueryRowContext(t.Context(), "SELECT CAST(pg_current_wal_flush_lsn() AS TEXT)").Scan(&lsn))
		s.eventually(t, "SELECT confirmed_flush_lsn >= CAST($1 AS pg_lsn) FROM pg_replication_slots WHERE slot_name = $2", lsn, sites[1-i].sub)
	}
	return time.Since(began)
}

// content is the number of rows of the tables, and a sum over all their columns.
func (s *site) content(t *testing.T) (rows int, sum string) {
	t.Helper()
	for _, table := range []string{"orders", "order_lines"} {
		var n int
		var part string
		must(t, s.db.QueryRowContext(t.Context(), "SELECT count(*), CAST(COALESCE(sum(hashtextextended(CAST(r AS TEXT), 0)), 0) AS TEXT) FROM "+table+" r").Scan(&n, &part))
		rows, sum = rows+n, sum+" "+part
	}
	return rows, sum
}

// conflicts returns what the subscription has counted, by kind, and the errors that it
// had. A connection that breaks is an error as well. Only PostgreSQL 18 counts conflicts.
func (s *site) conflicts(t *testing.T) (conflicts, errs, kinds int) {
	t.Helper()
	must(t, s.db.QueryRowContext(t.Context(), `SELECT COALESCE(sum(CAST(value AS bigint)) FILTER (WHERE key LIKE 'confl\_%'), 0),
		COALESCE(sum(CAST(value AS bigint)) FILTER (WHERE key = 'apply_error_count'), 0), count(*) FILTER (WHERE key LIKE 'confl\_%')
		FROM pg_stat_subscription_stats s, jsonb_each_text(to_jsonb(s)) WHERE s.subname = $1 AND (key LIKE 'confl\_%' OR key = 'apply_error_count')`, s.sub).Scan(&conflicts, &errs, &kinds))
	return conflicts, errs, kinds
}

// TestActiveActive writes to both nodes by GORM, by COPY and in SQL while the network between them is
// whole, cut, cut one way, and while one crashes: afterwards both have all rows of both,
// without a conflict, and no id was issued twice. SNOWKEY_ACTIVE_ROWS is about the number of
// rows, 20,000 if not set.
func TestActiveActive(t *testing.T) {
	total := int(setting(t, "SNOWKEY_ACTIVE_ROWS", 20_000)) //nolint:gosec // of a test
	sites := newSites(t)
	subscribe(t, sites)
	var ids tally
	var writers []*siteWriters
	for _, s := range sites {
		writers = append(writers, newSiteWriters(t, s, &ids))
	}
	first, second := sites[0], sites[1]
	phases := []struct {
		name string
		cut  []*site // where the network to them is down
		then func()  // before it is repaired
	}{
		{"whole", nil, nil},
		{"cut", sites, nil},
		{"cut one way", sites[:1], nil},
		{"cut, and a crash", sites, func() {
			must(t, first.Kill())
			must(t, first.Start())
		}},
	}
	acknowledged := 0
	for _, p := range phases {
		t.Run(p.name, func(t *testing.T) {
			for _, s := range p.cut {
				s.link.Cut()
			}
			began := time.Now()
			var wg sync.WaitGroup
			counts := make([]int, len(writers))
			for i, w := range writers {
				wg.Go(func() { counts[i] = w.write(t, total/len(phases)/len(sites)) })
			}
			wg.Wait()
			wrote := time.Since(began)
			if t.Failed() {
				t.FailNow()
			}
			duplicates, n := ids.twice()
			if len(duplicates) > 0 {
				t.Fatalf("%d ids were issued twice, the first %d", len(duplicates), duplicates[0])
			}
			for _, s := range p.cut { // the other node has its own rows only
				other := writers[1-s.datacenter]
				if n, _ := other.content(t); n != acknowledged+counts[other.datacenter] {
					t.Errorf("%s has %d rows, although the network is down", other.site, n)
				}
			}
			if p.then != nil {
				p.then()
			}
			for _, s := range p.cut {
				s.link.Mend()
			}
			caught := caughtUp(t, sites)
			acknowledged += counts[0] + counts[1]
			rows, sum := first.content(t)
			if n, other := second.content(t); n != rows || other != sum {
				t.Errorf("the first node has %d rows with the sum%s, the second %d with%s", rows, sum, n, other)
			}
			if rows != acknowledged {
				t.Errorf("%d rows of %d that were acknowledged", rows, acknowledged)
			}
			var broken []int
			for _, s := range sites {
				conflicts, errs, _ := s.conflicts(t)
				if broken = append(broken, errs); conflicts > 0 {
					t.Errorf("%s has %d conflicts", s.sub, conflicts)
				}
			}
			t.Logf("%d + %d rows in %.1fs, applied %.1fs later: %d rows on each node, identical, no conflict; %d ids, no duplicate; broken connections so far %v",
				counts[0], counts[1], wrote.Seconds(), caught.Seconds(), rows, n, broken)
		})
	}
	for _, s := range sites { // each has its own leases only
		var leases int
		must(t, s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM snow_lease WHERE state <> 'unused'").Scan(&leases))
		if leases != 3 {
			t.Errorf("%s has %d leases, want 3", s, leases)
		}
	}
	t.Run("of the other datacenter", func(t *testing.T) { otherDatacenter(t, sites) })
	t.Run("a pool that moves", func(t *testing.T) { movedPool(t, sites) })
}

// otherDatacenter leases on a node with the datacenter of the other, also if the node is its
// copy, which the statement of the document corrects.
func otherDatacenter(t *testing.T, sites []*site) {
	first, second := sites[0], sites[1]
	acquire := func(s *site, datacenter int64) error {
		store := mustNew(sqlstore.New(s.db, sqlstore.Config{Dialect: ddl.Postgres}))
		cfg := s.lease()
		cfg.Datacenter, cfg.ClaimWait = &datacenter, -1
		lease, err := worker.Open(t.Context(), store, cfg)
		if err == nil {
			must(t, lease.Close(context.Background()))
		}
		return err
	}
	var layout *worker.LayoutError
	if err := acquire(second, first.datacenter); !errors.As(err, &layout) {
		t.Errorf("the datacenter of the first node on the second: %v", err)
	}
	must(t, acquire(second, second.datacenter))

	copied := &site{Server: second.Server, datacenter: 1, db: openPostgres(t, testserver.Database(t, "pgx", second.DSN))}
	must(t, acquire(copied, first.datacenter))
	if err := acquire(copied, copied.datacenter); !errors.As(err, &layout) {
		t.Errorf("the datacenter of the second node on a copy of the first: %v", err)
	}
	copied.exec(t, copied.db, afresh(t))
	must(t, acquire(copied, copied.datacenter))
}

// A moving store has a pool whose connections lead to another node after a while.
type moving struct {
	at atomic.Pointer[sqlstore.Store]
}

func (m *moving) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	return m.at.Load().Claim(ctx, c)
}

func (m *moving) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	return m.at.Load().Renew(ctx, r)
}

func (m *moving) Release(ctx context.Context, r driver.Release) error {
	return m.at.Load().Release(ctx, r)
}

// movedPool moves a program to the other node: ids continue up to the fence, and then end.
func movedPool(t *testing.T, sites []*site) {
	store := &moving{}
	store.at.Store(mustNew(sqlstore.New(sites[0].db, sqlstore.Config{})))
	gen, err := worker.Open(t.Context(), store, sites[0].lease())
	must(t, err)
	defer func() { _ = gen.Close(context.Background()) }() // the store is the wrong one
	_, err = gen.Next(t.Context())
	must(t, err)
	store.at.Store(mustNew(sqlstore.New(sites[1].db, sqlstore.Config{})))
	for deadline := time.Now().Add(patience); ; {
		id, err := gen.Next(t.Context())
		var layout *worker.LayoutError
		if errors.As(err, &layout) {
			return
		}
		if err != nil && !errors.Is(err, core.ErrFenced) {
			t.Fatal(err)
		}
		if err == nil {
			must(t, sites[0].own([]int64{id}))
		}
		if time.Now().After(deadline) {
			t.Fatalf("no LayoutError; the last error: %v", err)
		}
	}
}

// namespace is the one in docs/generator.md.
const namespace = "orders"

// lease returns the configuration of a generator of the site.
func (s *site) lease() worker.Config {
	d := s.datacenter
	return worker.Config{Namespace: namespace, Datacenter: &d, FenceWindow: 5 * time.Second, RenewInterval: 500 * time.Millisecond}
}

// own fails unless all ids are of the site's datacenter.
func (s *site) own(ids []int64) error {
	for _, id := range ids {
		p, err := core.Twitter().Decode(id)
		if err != nil || p.Datacenter != s.datacenter {
			return fmt.Errorf("%s: the id %d is of datacenter %d, want %d: %w", s, id, p.Datacenter, s.datacenter, err)
		}
	}
	return nil
}

// ending is a context for closing, after the test's own is done.
func ending() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}
