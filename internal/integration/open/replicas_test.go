package open

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// patience is the timeout for steps that take a moment unless something is wrong.
const patience = 2 * time.Minute

// patient configures a lease that a slow machine does not lose.
var patient = worker.Config{ClaimWait: patience, Timeout: patience, RenewInterval: patience, FenceWindow: 2 * patience}

// Three replicas begin at the same time on an empty database, and write at the same time: the
// primary key refuses a duplicate. After they have closed, the next three have their worker IDs.
func TestReplicas(t *testing.T) {
	each(t, func(t *testing.T, d database, instance func(*testing.T) start) {
		const replicas, writers, rows = 3, 4, 25
		db := d.table(t)
		var held [2][]int64
		for round := range held {
			var starts [replicas]start
			for i := range starts {
				starts[i] = instance(t)
			}
			opened := together(t, replicas, func(i int) (replica, error) { return starts[i](t.Context(), patient) })
			for _, r := range opened {
				defer r.gen.Close(context.Background()) // should the test end early
				held[round] = append(held[round], r.gen.Worker())
			}
			for _, ids := range together(t, replicas*writers, func(i int) ([]int64, error) {
				return opened[i%replicas].insert(fmt.Sprint(i), rows)
			}) {
				if len(ids) != rows {
					t.Errorf("%d ids", len(ids))
				}
			}
			for _, r := range opened {
				must(t, r.gen.Failing())
				must(t, r.gen.Close(context.Background()))
			}
			slices.Sort(held[round])
		}
		if len(slices.Compact(slices.Clone(held[0]))) != replicas || !slices.Equal(held[0], held[1]) {
			t.Errorf("worker IDs %d, and %d after they were closed", held[0], held[1])
		}
		var stored int
		must(t, db.QueryRow("SELECT count(*) FROM rows_").Scan(&stored))
		if want := len(held) * replicas * writers * rows; stored != want {
			t.Errorf("%d rows, want %d", stored, want)
		}
	})
}

// together calls f n times at once.
func together[T any](t *testing.T, n int, f func(i int) (T, error)) []T {
	t.Helper()
	results, errs := make([]T, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { results[i], errs[i] = f(i) })
	}
	wg.Wait()
	must(t, errors.Join(errs...))
	return results
}

// childVar makes a second run of this test binary a replica: a way, a kind of database and its
// DSN.
const childVar = "SNOWKEY_OPEN_CHILD"

// brief configures a lease that expires soon.
var brief = worker.Config{FenceWindow: 2 * time.Second, Timeout: 10 * time.Second, ClaimWait: patience}

// TestChild is that replica. It writes a row, prints the worker ID and the id, and waits until it
// is killed, or its input ends.
func TestChild(t *testing.T) {
	name, dsn, ok := strings.Cut(os.Getenv(childVar), " ")
	if !ok {
		return // it is not started by TestKilled
	}
	wayName, kind, _ := strings.Cut(name, "/")
	i := slices.IndexFunc(ways, func(w way) bool { return w.name == wayName })
	r, err := ways[i].instance(t, database{kind, dsn})(t.Context(), brief)
	must(t, err)
	ids, err := r.insert("child", 1)
	must(t, err)
	fmt.Printf("child %d %d\n", r.gen.Worker(), ids[0])
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// After a replica was killed, another one leases its worker ID when the TTL is over, and its ids
// begin after those of the first.
func TestKilled(t *testing.T) {
	each(t, func(t *testing.T, d database, instance func(*testing.T) start) {
		d.table(t)
		self, err := os.Executable()
		must(t, err)
		child := exec.Command(self, "-test.run=^TestChild$", "-test.timeout=10m")
		_, wayName, _ := strings.Cut(t.Name(), "/")
		child.Env = append(os.Environ(), childVar+"="+wayName[strings.LastIndex(wayName, "/")+1:]+"/"+d.name+" "+d.dsn)
		child.Stderr = os.Stderr
		_, err = child.StdinPipe()
		must(t, err)
		out, err := child.StdoutPipe()
		must(t, err)
		must(t, child.Start())
		defer func() { _ = child.Wait() }()
		defer func() { _ = child.Process.Kill() }()
		lines := bufio.NewScanner(out)
		var number, last int64
		for last == 0 && lines.Scan() {
			if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "child" {
				number, err = strconv.ParseInt(words[1], 10, 64)
				must(t, err)
				last, err = strconv.ParseInt(words[2], 10, 64)
				must(t, err)
			} else {
				t.Log(lines.Text())
			}
		}
		if last == 0 {
			t.Fatal("it did not begin")
		}
		only := brief
		only.Preferred, only.RequirePreferred, only.ClaimWait = &number, true, -1
		if _, err := instance(t)(t.Context(), only); !errors.Is(err, worker.ErrNoWorkerID) {
			t.Errorf("while it lives: %v", err)
		}
		must(t, child.Process.Kill())
		only.ClaimWait = patience
		r, err := instance(t)(t.Context(), only)
		must(t, err)
		defer r.gen.Close(context.Background())
		ids, err := r.insert("next", 10)
		must(t, err)
		if got := r.gen.Worker(); got != number || ids[0] <= last {
			t.Errorf("worker ID %d, id %d; the one that was killed had %d, %d", got, ids[0], number, last)
		}
	})
}

// After Close there are no ids, and the lease says that it was released. A second Close returns
// nil.
func TestClose(t *testing.T) {
	each(t, func(t *testing.T, d database, instance func(*testing.T) start) {
		d.table(t)
		ctx, cancel := context.WithCancel(t.Context())
		r, err := instance(t)(ctx, worker.Config{FenceWindow: 600 * time.Millisecond, Timeout: patience, TTL: patience, ClaimWait: patience})
		must(t, err)
		defer r.gen.Close(context.Background())
		cancel() // it was for the beginning
		for began := time.Now(); r.gen.Stats().Renewals < 2; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > patience {
				t.Fatalf("%+v", r.gen.Stats())
			}
		}
		_, err = r.insert("x", 3)
		must(t, err)
		must(t, r.gen.Failing())
		if got := r.gen.Stats().Issued; got != 3 {
			t.Errorf("%d were issued", got)
		}
		together(t, 4, func(int) (struct{}, error) { return struct{}{}, r.gen.Close(context.Background()) })
		must(t, r.gen.Close(context.Background()))
		if _, err := r.insert("x", 2); !errors.Is(err, core.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if err := r.gen.Failing(); !errors.Is(err, core.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		select {
		case <-r.gen.Done():
		default:
			t.Error("the lease is not done")
		}
	})
}
