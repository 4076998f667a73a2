//go:build unix

package torture

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A forgetting is a way in which a store forgets what it has acknowledged.
type forgetting struct {
	name  string
	floor bool         // it keeps the namespace, with its floor
	keep  func() error // is called some time before; nil: all is forgotten
	lock  func() (unlock func(), err error)
	// event makes it forget. Between lock and unlock no process uses the store, if halts.
	event func() error
	halts bool // the processes are stopped meanwhile, and half of them are killed
	raise bool // an operator raises the floor before processes continue: perhaps nothing shows the event
}

// putBack is the way of a server that keeps its data in a folder.
func putBack(server *testserver.Server) forgetting {
	return forgetting{
		name: "put back", keep: server.Snapshot,
		event: func() error { return inTurn(server.Kill, server.PutBack, server.Start) },
	}
}

// forgetsSQL has the ways of a database, and the saboteur, who writes to its tables.
func (s *service) forgetsSQL(driverName, dsn string) (ways []forgetting) {
	s.believe = func(ns driver.Namespace) error {
		return execSQL(driverName, dsn, engines.WriteNamespace(ns)...)
	}
	by := func(name string, statements ...string) {
		ways = append(ways, forgetting{name: name, floor: len(statements) == 1, event: func() error { return execSQL(driverName, dsn, statements...) }})
	}
	by("all deleted", "DELETE FROM snow_namespace", "DELETE FROM snow_lease")
	by("half deleted", "DELETE FROM snow_lease WHERE worker_id < 4")
	if driverName != "sqlite" {
		by("all truncated", "TRUNCATE TABLE snow_namespace", "TRUNCATE TABLE snow_lease")
		by("records truncated", "TRUNCATE TABLE snow_lease")
	}
	return ways
}

// execSQL executes statements in a transaction.
func execSQL(driverName, dsn string, statements ...string) error {
	db, err := sql.Open(driverName, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	return again(func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return errors.Join(fmt.Errorf("%s: %w", statement, err), tx.Rollback())
			}
		}
		return tx.Commit()
	})
}

// forgetsRedis has the ways of a Redis.
func (s *service) forgetsRedis(server *testserver.Server) {
	const hash = "snowkey:lease:{" + space + "}"
	c := redisClient(server.Addr)
	s.believe = func(ns driver.Namespace) error {
		text, err := json.Marshal(ns)
		if err != nil {
			return err
		}
		return again(func(ctx context.Context) error { return c.HSet(ctx, hash, "namespace", text).Err() })
	}
	s.ways = []forgetting{
		{name: "FLUSHALL", event: func() error {
			return again(func(ctx context.Context) error { return c.FlushAll(ctx).Err() })
		}},
		{name: "half deleted", floor: true, event: func() error {
			return again(func(ctx context.Context) error { return c.HDel(ctx, hash, "0", "1", "2", "3").Err() })
		}},
		{
			name: "killed without persistence",
			keep: func() error { // the file that it has stays
				return again(func(ctx context.Context) error { return c.ConfigSet(ctx, "appendonly", "no").Err() })
			},
			event: func() error { return inTurn(server.Kill, server.Start) },
		},
		{name: "killed, and its files removed", event: func() error {
			var dir map[string]string
			err := again(func(ctx context.Context) (err error) {
				dir, err = c.ConfigGet(ctx, "dir").Result()
				return err
			})
			return errors.Join(err, inTurn(server.Kill, func() error { return os.RemoveAll(filepath.Join(dir["dir"], "appendonlydir")) }, server.Start))
		}},
	}
}

// forgetsEtcd has the ways of etcd.
func (s *service) forgetsEtcd(server *testserver.Server, dir string) {
	file := filepath.Join(dir, "snapshot")
	ask := func(f func(ctx context.Context, c *clientv3.Client) error) error {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{server.DSN}, Logger: zap.NewNop(), DialTimeout: time.Second})
		if err != nil {
			return err
		}
		defer c.Close()
		return again(func(ctx context.Context) error { return f(ctx, c) })
	}
	remove := func(prefix string) func() error {
		return func() error {
			return ask(func(ctx context.Context, c *clientv3.Client) error {
				_, err := c.Delete(ctx, prefix, clientv3.WithPrefix())
				return err
			})
		}
	}
	s.believe = func(ns driver.Namespace) error {
		text, err := json.Marshal(ns)
		if err != nil {
			return err
		}
		return ask(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Put(ctx, "snowkey#namespace#"+ns.Name, string(text))
			return err
		})
	}
	s.ways = []forgetting{
		{name: "all deleted", event: remove("snowkey#")},
		{name: "records deleted", floor: true, event: remove("snowkey#lease#" + space + "#")},
		{
			name: "snapshot restored",
			keep: func() error {
				return ask(func(ctx context.Context, c *clientv3.Client) error {
					from, err := c.Snapshot(ctx)
					if err != nil {
						return err
					}
					to, err := os.Create(file)
					if err != nil {
						return errors.Join(err, from.Close())
					}
					_, err = io.Copy(to, from)
					return errors.Join(err, to.Close(), from.Close())
				})
			},
			event: func() error {
				return inTurn(server.Kill, func() error { return server.RestoreEtcd(file) }, server.Start)
			},
			raise: true,
		},
	}
}

// forgetsFile has the way of a file of SQLite: it is replaced by a copy from before. stop and start are
// for the program that uses it; without them, all processes do.
func (s *service) forgetsFile(dsn string, stop, start func() error) forgetting {
	path, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
	kept := path + "-kept"
	way := forgetting{
		name: "file replaced",
		keep: func() error {
			if err := os.Remove(kept); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return execAlone(dsn, "VACUUM INTO '"+kept+"'")
		},
	}
	replace := func() error {
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		return os.Rename(kept, path)
	}
	if stop != nil {
		way.event = func() error { return inTurn(stop, replace, start) }
		return way
	}
	way.halts, way.event = true, replace
	way.lock = func() (unlock func(), err error) {
		db, err := sql.Open("sqlite", dsn)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		err = again(func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE")
			return err
		})
		return func() { _ = db.Close() }, err
	}
	return way
}

// execAlone executes a statement outside a transaction.
func execAlone(dsn, statement string) error {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	return again(func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, statement)
		return err
	})
}

func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// again asks until the store does it.
func again(ask func(ctx context.Context) error) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		err := ask(ctx)
		cancel()
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// forget makes the store forget once. With a saboteur, it then believes that it has not, before any
// process asks again: there is no floor.
func (r *torture) forget(random *random, halt <-chan struct{}) error {
	way := r.service.ways[random.below(int64(len(r.service.ways)))]
	if _, err := r.held(halt, true); err != nil { // there is something to keep
		return err
	}
	if way.keep != nil {
		if err := way.keep(); err != nil {
			return fmt.Errorf("%s: keep: %w", way.name, err)
		}
	}
	time.Sleep(random.duration(renew, 2*free))
	before, err := r.held(halt, way.floor)
	if err != nil {
		return err
	}
	unlock := func() {}
	if way.lock != nil {
		if unlock, err = way.lock(); err != nil {
			return fmt.Errorf("%s: lock: %w", way.name, err)
		}
	}
	defer unlock()
	lost := 0
	event := func() error {
		if err := way.event(); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		after, err := r.list()
		if err != nil {
			return err
		}
		if lost = engines.Forgotten(before, after); r.sabotage {
			ns := before.Namespace
			ns.Incarnation, ns.Since, ns.Floor, ns.Seen = after.Server, 0, 0, after.Count
			return r.service.believe(ns)
		}
		if way.raise {
			return r.raise()
		}
		return nil
	}
	if way.halts || way.raise || r.sabotage {
		err = r.halted(random, way.halts, event)
	} else {
		err = event()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outages["forgot: "+way.name]++
	r.forgets++
	r.unwritten += lost
	return err
}

// raise does what "snowkey workers floor" does.
func (r *torture) raise() error {
	store, end, err := openOnce(r.service.name, r.service.dsn)
	if err != nil {
		return err
	}
	defer end()
	return again(func(ctx context.Context) error {
		_, err := store.(driver.Admin).Raise(ctx, space, 0)
		return err
	})
}

// list returns what the store has. It has its own connections: a file may have been replaced.
func (r *torture) list() (st driver.State, err error) {
	store, end, err := openOnce(r.service.name, r.service.dsn)
	if err != nil {
		return st, err
	}
	defer end()
	err = again(func(ctx context.Context) error {
		st, err = store.(driver.Admin).List(ctx, space)
		return err
	})
	return st, err
}

// held waits until worker IDs are held, and, unless floor, until the event before was noticed, and no
// floor is ahead of the clock: such a one must not be forgotten.
func (r *torture) held(halt <-chan struct{}, floor bool) (driver.State, error) {
	for deadline := time.Now().Add(patience); ; {
		st, err := r.list()
		select {
		case <-halt:
			return st, errHalt
		case <-time.After(20 * time.Millisecond):
		}
		if err == nil && len(st.Records) > 4 && !st.Missing && (floor || !st.Forgot() && st.Namespace.Floor <= st.Now) {
			return st, nil
		}
		if time.Now().After(deadline) {
			return st, fmt.Errorf("the store does not come to rest: %+v, %w", st, err)
		}
	}
}

var errHalt = errors.New("the run has ended")

// halted does something while all processes are stopped. kill kills half of them.
func (r *torture) halted(random *random, kill bool, f func() error) error {
	r.slotsMu.Lock()
	defer r.slotsMu.Unlock()
	for _, s := range r.slots {
		if s.begin.IsZero() {
			s.signal(syscall.SIGSTOP)
		}
	}
	time.Sleep(10 * time.Millisecond) // until they are
	err := f()
	for _, s := range r.slots {
		switch {
		case !s.begin.IsZero():
		case kill && random.oneIn(2):
			s.kill()
			s.begin = time.Now()
			r.kills++
		case s.resume.IsZero():
			s.signal(syscall.SIGCONT)
		}
	}
	return err
}
