package testserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Patroni is a cluster of PostgreSQL servers. Each runs under its own Patroni, which promotes a
// standby when the primary is gone.
type Patroni struct {
	Members []*PatroniMember

	// DSN names all members, and leads to the one that accepts writes.
	DSN string
}

// A PatroniMember is one PostgreSQL server and the Patroni that looks after it. Kill ends both, as
// a crash of the machine does. Start returns when its PostgreSQL answers, which may take until
// Patroni has made it follow the new primary.
type PatroniMember struct {
	*Server
	Port int // of its PostgreSQL
}

// A PatroniState is how Patroni sees a member.
type PatroniState struct {
	Name     string
	Role     string // "leader", "sync_standby", "replica"
	State    string // "running" or "streaming" when all is well
	Port     int    // of its PostgreSQL
	Timeline int64  // one more after each promotion
}

// NewPatroni starts a cluster of n members for this test alone, with an etcd of its own.
// It has synchronous_mode and synchronous_mode_strict: a commit is acknowledged when a
// standby has it, and only such a standby is promoted. A primary that crashes is replaced
// rather than restarted. If its Patroni is gone as well, that takes 20 seconds, the least
// that Patroni allows. Unlike those of [Postgres], the servers have fsync on, so that
// sqlstore does not refuse them.
func NewPatroni(t testing.TB, n int) *Patroni {
	t.Helper()
	e := patroniEngine()
	if _, _, err := e.find(); err != nil {
		skipOrFail(t, err)
		return nil
	}
	store := NewEtcd(t)
	p := &Patroni{}
	var hosts []string
	e.configure = func(s *Server) error {
		return s.writeConfig("patroni.yml", map[string]string{
			"TAG": s.tag, "NAME": filepath.Base(s.dir), "PEER": s.member.peer, "ADDR": s.Addr, "ETCD": store.Addr,
			"STANDBYS": strconv.Itoa(n - 1), "BIN": filepath.Dir(s.programs[0]), "DATA": s.data(),
		})
	}
	for _, s := range cluster(t, e, n, 0) {
		port, err := strconv.Atoi(portOf(s.Addr))
		if err != nil {
			t.Fatal(err)
		}
		p.Members = append(p.Members, &PatroniMember{s, port})
		hosts = append(hosts, s.Addr)
	}
	p.DSN = e.dsn(strings.Join(hosts, ",")) + "&target_session_attrs=read-write"
	return p
}

// patroniEngine is PostgreSQL's, for members of a Patroni cluster.
func patroniEngine() *engine {
	e := postgresEngine()
	e.packages = "patroni, etcd-server, postgresql, python3-etcd and python3-psycopg2"
	e.programs = [][]string{{"postgres"}, {"initdb"}, {"pg_rewind"}, {"pg_basebackup"}}
	e.setup = nil // Patroni's own
	e.orderly, e.quick = 0, 0
	e.more = func() ([]string, string) { return pick(searchPath(), [][]string{{"patroni"}}) }
	e.command = func(s *Server) []string { return []string{s.programs[len(s.programs)-1], s.in("patroni.yml")} }
	e.ready = func(s *Server) error {
		if status, _, err := askHTTP("http://"+s.member.peer+"/health", patroniLimit); err != nil || status != http.StatusOK {
			return cmp.Or(err, errNotRunning)
		}
		return postgresReady(s)
	}
	return e
}

const patroniLimit = 2 * time.Second // of one answer

var errNotRunning = errors.New("PostgreSQL does not run")

// KillPostgres kills all processes of the member's PostgreSQL. Its Patroni stays and sees
// to it that another member is promoted, and that this one follows it.
func (m *PatroniMember) KillPostgres() error {
	killed, err := killAll(func() ([]process, error) { return family(0, m.data()) })
	if err == nil && killed == 0 {
		err = errNotRunning
	}
	if err != nil {
		return fmt.Errorf("kill PostgreSQL of %s: %w", m, err)
	}
	return nil
}

// State is the cluster as the first member that answers sees it.
func (p *Patroni) State() (states []PatroniState, err error) {
	err = errors.New("there is no member")
	for _, m := range p.Members {
		var body []byte
		if _, body, err = askHTTP("http://"+m.member.peer+"/cluster", patroniLimit); err != nil {
			continue
		}
		var answer struct{ Members []PatroniState }
		if err = json.Unmarshal(body, &answer); err == nil {
			return answer.Members, nil
		}
	}
	return nil, err
}
