package ddl

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
)

// server is one empty database, reached by one connection.
type server = engines.Engine

func alone(test func(t *testing.T, s *server)) func(t *testing.T, s *server) {
	return func(t *testing.T, s *server) {
		s.SetMaxOpenConns(1)
		test(t, s)
	}
}

// onEvery runs a test on every database.
func onEvery(t *testing.T, test func(t *testing.T, s *server)) { engines.OnEvery(t, alone(test)) }

// onServers leaves out SQLite.
func onServers(t *testing.T, test func(t *testing.T, s *server)) { engines.OnServers(t, alone(test)) }

func openPostgres(t testing.TB) *server {
	t.Helper()
	s := engines.Postgres(t)
	s.SetMaxOpenConns(1)
	return s
}

func maria(t testing.TB, s *server) bool {
	return strings.Contains(s.One(t, "SELECT version()"), "MariaDB")
}

// one is the single value that a query gives.
func one[T any](t testing.TB, s *server, query string, args ...any) (value T) {
	t.Helper()
	if err := s.QueryRow(query, args...).Scan(&value); err != nil {
		t.Fatalf("%v, from\n%s", err, query)
	}
	return value
}

// ok ends the test at an error, and else returns what a call has made.
func ok[T any](made T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

type named struct {
	name   string
	layout core.Layout
}

// layouts are all that are known by a name, and odd ones.
func layouts() []named {
	var all []named
	for _, p := range core.Presets() {
		all = append(all, named{p.Name, p.Layout})
	}
	at := func(s string) time.Time {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			panic(err)
		}
		return t
	}
	return append(all,
		named{"zero", core.Layout{}},
		named{"sequence first", core.Layout{SequenceFirst: true, TimeBits: 40, RollbackBits: 3, DatacenterBits: 4, WorkerBits: 6, SequenceBits: 9}},
		named{"all fields", core.Layout{TimeBits: 39, RollbackBits: 2, DatacenterBits: 4, WorkerBits: 6, SequenceBits: 12}},
		named{"10ms", core.Layout{Tick: 10 * time.Millisecond, TimeBits: 39, WorkerBits: 10, SequenceBits: 14, Epoch: at("2020-01-01T00:00:00.007Z")}},
		named{"7ms", core.Layout{Tick: 7 * time.Millisecond, TimeBits: 38, WorkerBits: 4, SequenceBits: 8, Epoch: at("2001-02-03T04:05:06.789Z")}},
		named{"seconds before 1970", core.Layout{Tick: time.Second, TimeBits: 35, WorkerBits: 8, SequenceBits: 20, Epoch: at("1900-03-01T00:00:00.001Z")}},
		named{"milliseconds before 1970", core.Layout{TimeBits: 43, SequenceBits: 20, Epoch: at("1815-12-10T11:12:13.999Z")}},
		named{"hours", core.Layout{Tick: time.Hour, TimeBits: 20, WorkerBits: 10, SequenceBits: 30, Epoch: at("2000-01-01T00:30:00.5Z")}},
		named{"one bit", core.Layout{TimeBits: 1, WorkerBits: 62}},
		named{"one bit of a day", core.Layout{TimeBits: 1, Tick: 24 * time.Hour, SequenceBits: 10}},
		named{"one worker bit", core.Layout{TimeBits: 41, WorkerBits: 1, SequenceBits: 1}},
		named{"time alone", core.Layout{TimeBits: 41}},
		named{"last of the doubles", core.Layout{TimeBits: 51, SequenceBits: 12, Epoch: at("0001-01-01T00:00:00Z")}},
		named{"first beyond the doubles", core.Layout{TimeBits: 51, SequenceBits: 12, Epoch: at("2020-01-01T00:00:00.123Z")}},
		named{"far beyond the doubles", core.Layout{TimeBits: 52, SequenceBits: 11}},
		named{"beyond every date", core.Layout{TimeBits: 60, WorkerBits: 3}},
		named{"63 bits of an hour", core.Layout{TimeBits: 48, Tick: time.Hour, WorkerBits: 15}},
		named{"days from 9999", core.Layout{TimeBits: 12, Tick: 24 * time.Hour, Epoch: at("9999-12-01T00:00:00.25Z")}},
	)
}
