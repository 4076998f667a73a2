package testserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
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

// A PatroniMember is one PostgreSQL server and the Patroni that looks after it.
type PatroniMember struct {
	// Name is what Patroni calls it.
	Name string
	// DSN is a URL that leads to this member's PostgreSQL only.
	DSN string
	// Port is its PostgreSQL's.
	Port int

	server *Server // Patroni's process; PostgreSQL outlives it
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
	if _, err := e.lookup(); err != nil {
		skipOrFail(t, err)
		return nil
	}
	store := NewEtcd(t)
	e.command = func(s *Server) []string {
		return []string{s.programs[0], filepath.Join(s.dir, "patroni.json")}
	}
	p := &Patroni{}
	var hosts []string
	e.configure = func(s *Server) error { return patroniConfigure(s, store.Addr, n-1) }
	for _, s := range cluster(t, e, n, 0) {
		port, err := strconv.Atoi(portOf(s.Addr))
		if err != nil {
			t.Fatal(err)
		}
		p.Members = append(p.Members, &PatroniMember{Name: filepath.Base(s.dir), DSN: s.DSN, Port: port, server: s})
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
	e.sequential = true
	e.orderly, e.quick = syscall.SIGTERM, syscall.SIGKILL
	e.ready = patroniReady
	e.reap = patroniReap
	servers := e.find
	e.lookup = func() ([]string, error) {
		paths, err := servers()
		if err != nil {
			return nil, err
		}
		script := firstExecutable(searchPath(), []string{"patroni"})
		if script == "" {
			return nil, &missingError{e, "program patroni not found"}
		}
		return append([]string{script}, paths...), nil
	}
	return e
}

// patroniConfigure writes Patroni's configuration: YAML, of which JSON is a part.
func patroniConfigure(s *Server, etcd string, standbys int) error {
	type object = map[string]any
	local := func(user string) object { return object{"username": user} }
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
			"bin_dir":        filepath.Dir(s.programs[1]),
			"data_dir":       s.data(),
			"pgpass":         filepath.Join(s.dir, "pgpass"),
			"pg_hba":         []string{"host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"},
			"authentication": object{"superuser": local("postgres"), "replication": local("postgres"), "rewind": local("postgres")},
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
	return os.WriteFile(filepath.Join(s.dir, "patroni.json"), text, 0o644)
}

var errNotRunning = errors.New("PostgreSQL does not run yet")

// patroniReady asks Patroni whether its PostgreSQL runs, and the latter itself.
func patroniReady(s *Server) error {
	status, _, err := patroniAsk(s.member.peer, "/health", 2*time.Second)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return errNotRunning
	}
	return postgresAnswers(s.Addr)
}

// patroniAsk asks the interface of a Patroni.
func patroniAsk(addr, path string, limit time.Duration) (status int, body []byte, err error) {
	client := &http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + addr + path)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// patroniReap kills the PostgreSQL that a killed Patroni leaves behind.
func patroniReap(s *Server) error {
	_, err := killNaming(s.data())
	return err
}

// Kill ends the member as a crash of its machine does: Patroni and PostgreSQL get SIGKILL.
func (m *PatroniMember) Kill() error { return m.server.Kill() }

// Start starts a member that was killed. It returns when its PostgreSQL answers, which may
// take until Patroni has made it follow the new primary.
func (m *PatroniMember) Start() error { return m.server.Start() }

// KillPostgres kills all processes of the member's PostgreSQL. Its Patroni stays and sees
// to it that another member is promoted, and that this one follows it.
func (m *PatroniMember) KillPostgres() error {
	killed, err := killNaming(m.server.data())
	if err == nil && killed == 0 {
		err = errNotRunning
	}
	if err != nil {
		return fmt.Errorf("kill PostgreSQL of %s: %w", m.Name, err)
	}
	return nil
}

// State is the cluster as the first member that answers sees it.
func (p *Patroni) State() (states []PatroniState, err error) {
	err = errors.New("there is no member")
	for _, m := range p.Members {
		var body []byte
		if _, body, err = patroniAsk(m.server.member.peer, "/cluster", 2*time.Second); err != nil {
			continue
		}
		var answer struct{ Members []PatroniState }
		if err = json.Unmarshal(body, &answer); err == nil {
			return answer.Members, nil
		}
	}
	return nil, err
}

// Log is the end of what the member's Patroni and PostgreSQL have logged.
func (m *PatroniMember) Log() string { return m.server.logTail(0) }
