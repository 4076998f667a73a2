//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// nodes is a sqldriver.Connector to several nodes, like a load balancer: each connection goes
// to the next node that is ready.
type nodes struct {
	all  []sqldriver.Connector
	next atomic.Int64
	away []atomic.Int64 // until when a node is left out, in Unix nanoseconds
}

func (n *nodes) Connect(ctx context.Context) (conn sqldriver.Conn, err error) {
	if len(n.all) == 1 {
		return n.all[0].Connect(ctx)
	}
	err = errors.New("no node is ready")
	for try := range 2 * len(n.all) {
		i := int(n.next.Add(1)) % len(n.all)
		if try < len(n.all) && time.Now().UnixNano() < n.away[i].Load() {
			continue // unless no other is ready
		}
		if conn, err = n.all[i].Connect(ctx); err == nil {
			if err = ready(ctx, conn); err == nil {
				n.away[i].Store(0)
				return conn, nil
			}
			_ = conn.Close()
		}
		n.away[i].Store(time.Now().Add(5 * time.Second).UnixNano())
	}
	return nil, err
}

func (n *nodes) Driver() sqldriver.Driver { return n.all[0].Driver() }

// ready asks a node whether it is a working member.
func ready(ctx context.Context, conn sqldriver.Conn) error {
	rows, err := conn.(sqldriver.QueryerContext).QueryContext(ctx, "SHOW STATUS LIKE 'wsrep_ready'", nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	values := make([]sqldriver.Value, 2)
	if err := rows.Next(values); err != nil {
		return err
	}
	if fmt.Sprintf("%s", values[1]) != "ON" {
		return errors.New("wsrep_ready is not ON")
	}
	return nil
}

// connectGalera opens a pool of connections to one node, or to several in turn. It closes
// connections to a silent node.
func connectGalera(t *testing.T, members ...*testserver.Server) *sql.DB {
	t.Helper()
	return connectFor(t, 3*time.Second, members...)
}

// connectFor is connectGalera with this timeout.
func connectFor(t *testing.T, silent time.Duration, members ...*testserver.Server) *sql.DB {
	t.Helper()
	n := &nodes{away: make([]atomic.Int64, len(members))}
	for _, m := range members {
		cfg, err := mysql.ParseDSN(m.DSN)
		must(t, err)
		cfg.Timeout, cfg.ReadTimeout, cfg.WriteTimeout = silent/3, silent, silent
		cfg.Logger = &mysql.NopLogger{}
		connector, err := mysql.NewConnector(cfg)
		must(t, err)
		n.all = append(n.all, connector)
	}
	db := sql.OpenDB(n)
	if len(members) > 1 {
		db.SetMaxIdleConns(-1) // each statement by another node
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// status returns a status variable of a node.
func status(ctx context.Context, db *sql.DB, name string) string {
	var value string
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := db.QueryRowContext(ctx, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = ?", name).Scan(&value); err != nil {
		return err.Error()
	}
	return value
}

// whole waits until every node is a member of a cluster of all.
func whole(t *testing.T, admins []*sql.DB) {
	t.Helper()
	for i, db := range admins {
		testserver.Eventually(t, patience, func() error {
			ready, size := status(t.Context(), db, "wsrep_ready"), status(t.Context(), db, "wsrep_cluster_size")
			if ready != "ON" || size != fmt.Sprint(len(admins)) || status(t.Context(), db, "wsrep_local_state_comment") != "Synced" {
				return fmt.Errorf("node %d: wsrep_ready = %s, cluster of %s", i, ready, size)
			}
			return nil
		})
	}
}

func TestGalera(t *testing.T) {
	began := time.Now()
	members := testserver.NewGalera(t, 3)
	var admins []*sql.DB
	for _, m := range members {
		admins = append(admins, connectFor(t, patience, m))
	}
	whole(t, admins)
	t.Logf("three nodes are ready after %v", time.Since(began).Round(time.Millisecond))

	t.Run("suite", func(t *testing.T) { // each client at the next node
		next := 0
		storetest.Run(t, storetest.Config{Open: func(t *testing.T) driver.Store {
			next++
			return mustNew(sqlstore.New(connectFor(t, patience, members[next%len(members)]), sqlstore.Config{}))
		}})
	})
	t.Run("renewed elsewhere", func(t *testing.T) { renewedElsewhere(t, members, admins) })
	t.Run("not replicated", func(t *testing.T) { notReplicated(t, members[0]) })
	t.Run("crowd", func(t *testing.T) { galeraCrowd(t, members, admins) })
}

// renewedElsewhere claims a worker ID at one node, and at once renews it at another, claims it
// again at the third, and releases it at the second, while these have many other writes to
// apply first: an acknowledged claim is known at every node.
func renewedElsewhere(t *testing.T, members []*testserver.Server, admins []*sql.DB) {
	stores := make([]*sqlstore.Store, len(members))
	for i, m := range members {
		stores[i] = mustNew(sqlstore.New(connectFor(t, patience, m), sqlstore.Config{}))
		_, err := stores[i].List(t.Context(), "elsewhere")
		must(t, err)
	}
	_, err := admins[0].ExecContext(t.Context(), "CREATE TABLE much (n BIGINT PRIMARY KEY) ENGINE=InnoDB")
	must(t, err)
	const rounds = 6
	failed := map[string]int{}
	for round := range rounds {
		at := func(i int) *sqlstore.Store { return stores[(round+i)%len(stores)] }
		_, err := admins[round%len(stores)].ExecContext(t.Context(), fmt.Sprintf("INSERT INTO much SELECT seq + %d FROM seq_1_to_60000", round*100_000))
		must(t, err)
		claim := driver.Claim{
			Namespace: "elsewhere", Layout: "x", WorkerIDs: 8, Preferred: -1, Exclude: -1, ClaimID: fmt.Sprint("round", round), Owner: "test",
			Now: time.Now().UnixMilli(), FenceWindow: 180_000,
		}
		l, err := at(0).Claim(t.Context(), claim)
		must(t, err)
		if _, err := at(1).Renew(t.Context(), driver.Renewal{Namespace: claim.Namespace, Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: claim.ClaimID, FenceWindow: claim.FenceWindow}); err != nil {
			failed["renew: "+err.Error()]++
		}
		if again, err := at(2).Claim(t.Context(), claim); err != nil || again.Worker != l.Worker {
			failed[fmt.Sprintf("claim again: another number, %v", err)]++
		}
		if err := at(1).Release(t.Context(), driver.Release{Namespace: claim.Namespace, Worker: l.Worker, FencingToken: l.FencingToken, ClaimID: claim.ClaimID, Unused: l.Fence}); err != nil {
			failed["release: "+err.Error()]++
		}
	}
	if len(failed) > 0 {
		t.Errorf("of %d rounds: %v", rounds, failed)
	}
}

// notReplicated refuses a session whose writes stay at its node.
func notReplicated(t *testing.T, member *testserver.Server) {
	cfg, err := mysql.ParseDSN(member.DSN)
	must(t, err)
	cfg.Params = map[string]string{"wsrep_on": "0"}
	db, err := sql.Open("mysql", cfg.FormatDSN())
	must(t, err)
	defer db.Close()
	_, err = mustNew(sqlstore.New(db, sqlstore.Config{})).Reserve(t.Context(), "off", 1)
	var lossy *worker.DurabilityError
	if !errors.As(err, &lossy) || lossy.Setting != "wsrep_on" {
		t.Errorf("%v", err)
	}
	noLease(t, db, "wsrep_on")
}

// noLease claims where the others do not get what is written.
func noLease(t *testing.T, db *sql.DB, setting string) {
	t.Helper()
	gen, err := worker.Open(t.Context(), mustNew(sqlstore.New(db, sqlstore.Config{})), lease())
	var lossy *worker.DurabilityError
	if !errors.As(err, &lossy) || lossy.Setting != setting {
		t.Errorf("%v", err)
	}
	if err == nil {
		must(t, gen.Close(t.Context()))
	}
}

// isolate disconnects a node from the others, or reconnects it.
func isolate(t *testing.T, admin *sql.DB, value int) error {
	_, err := admin.ExecContext(t.Context(), fmt.Sprintf("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=%d'", value))
	return err
}

func galeraCrowd(t *testing.T, members []*testserver.Server, admins []*sql.DB) {
	c := newCrowd(t)
	for i := range 9 { // three at each node, of which two change
		c.join(fmt.Sprintf("holder %d at node %d", i, i/3), mustNew(sqlstore.New(connectGalera(t, members[i/3]), sqlstore.Config{})), time.Duration(i%3-1)*200*time.Millisecond, i%3 > 0)
	}
	for i := range 3 { // and three at all nodes in turn
		c.join(fmt.Sprintf("roaming holder %d", i), mustNew(sqlstore.New(connectGalera(t, members...), sqlstore.Config{})), time.Duration(i-1)*100*time.Millisecond, i > 0)
	}
	defer c.leave()
	c.phase("all is well", func() { c.progress(6) })
	// away takes a node away for at least that long. Those at other nodes continue.
	away := func(what string, node int, least time.Duration, leave, back func() error) {
		c.phase(fmt.Sprintf("node %d is %s", node, what), func() {
			must(t, leave())
			began := time.Now()
			c.others(node, 1)
			t.Logf("those at other nodes continue after %v", time.Since(began).Round(time.Millisecond))
			time.Sleep(time.Until(began.Add(least)))
			began = time.Now()
			must(t, back())
			whole(t, admins)
			t.Logf("it is back after %v", time.Since(began).Round(time.Millisecond))
		})
	}
	away("killed, and started 3s later", 2, 3*time.Second, members[2].Kill, func() (err error) {
		for range 5 { // a port that it needs may be in use for a moment
			if err = members[2].Start(); err == nil {
				break
			}
		}
		return err
	})
	away("paused for 6s", 0, 6*time.Second, members[0].Pause, members[0].Resume)
	away("cut off for 6s", 1, 6*time.Second, func() error { return isolate(t, admins[1], 1) }, func() error { return isolate(t, admins[1], 0) })
}
