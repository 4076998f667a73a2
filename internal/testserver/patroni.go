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
	"syscall"
	"testing"
	"time"
)

// A Patroni is a cluster of PostgreSQL servers. Each runs under its own Patroni, which
// promotes a standby when the primary is gone.
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
	e.configure = func(s *Server) error { return patroniConfigure(s, store.Addr, n-1) }
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
	e.orderly, e.quick = syscall.SIGTERM, syscall.SIGKILL
	e.more = func() ([]string, string) { return pick(searchPath(), [][]string{{"patroni"}}) }
	e.command = func(s *Server) []string { return []string{s.programs[len(s.programs)-1], s.in("patroni.json")} }
	e.ready = func(s *Server) error {
		// Patroni says whether its PostgreSQL runs, which may be that of another member yet.
		if status, _, err := askHTTP("http://"+s.member.peer+"/health", patroniLimit); err != nil || status != http.StatusOK {
			return cmp.Or(err, errNotRunning)
		}
		return postgresReady(s)
	}
	return e
}

const patroniLimit = 2 * time.Second // of one answer

var errNotRunning = errors.New("PostgreSQL does not run")

// patroniConfigure writes Patroni's configuration: YAML, of which JSON is a part.
func patroniConfigure(s *Server, etcd string, standbys int) error {
	type object = map[string]any
	super := object{"username": "postgres"}
	parameters := object{
		"unix_socket_directories":     "", // none: the path would soon be too long
		"dynamic_shared_memory_type":  "mmap",
		"shared_buffers":              "32MB",
		"max_connections":             200,
		"wal_log_hints":               "on", // for pg_rewind
		"wal_keep_size":               "128MB",
		"min_wal_size":                "64MB",
		"max_wal_size":                "256MB",
		"timezone":                    "UTC",
		"log_timezone":                "UTC",
		"wal_sender_timeout":          "5s",
		"wal_receiver_timeout":        "5s",
		"wal_retrieve_retry_interval": "200ms",
	}
	config := object{
		"scope":   s.tag,
		"name":    filepath.Base(s.dir),
		"restapi": object{"listen": s.member.peer, "connect_address": s.member.peer},
		"etcd3":   object{"host": etcd},
		"bootstrap": object{
			"dcs": object{
				"ttl": 20, "loop_wait": 1, "retry_timeout": 5,
				"synchronous_mode": true, "synchronous_mode_strict": true, "synchronous_node_count": standbys,
				"primary_start_timeout": 0, "maximum_lag_on_failover": 0,
				"postgresql": object{"use_pg_rewind": true, "use_slots": false, "parameters": parameters},
			},
			"initdb": []any{object{"encoding": "UTF8"}, object{"locale": "C"}, object{"auth": "trust"}, "no-sync"},
		},
		"postgresql": object{
			"listen": s.Addr, "connect_address": s.Addr,
			"bin_dir":        filepath.Dir(s.programs[0]),
			"data_dir":       s.data(),
			"pgpass":         s.in("pgpass"),
			"pg_hba":         []string{"host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"},
			"authentication": object{"superuser": super, "replication": super, "rewind": super},
			"basebackup":     []any{object{"checkpoint": "fast"}, "no-sync"},
			"remove_data_directory_on_rewind_failure":     true,
			"remove_data_directory_on_diverged_timelines": true,
		},
		"watchdog": object{"mode": "off"},
	}
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return err
	}
	return s.write("patroni.json", string(text))
}

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
