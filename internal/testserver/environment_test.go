package testserver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorder is a test that records how it ended.
type recorder struct {
	testing.TB
	skip, fatal string
}

func (r *recorder) Helper()                     {}
func (r *recorder) Skipf(f string, args ...any) { r.skip = fmt.Sprintf(f, args...) }
func (r *recorder) Fatal(args ...any)           { r.fatal = fmt.Sprint(args...) }

func TestSkipOrFail(t *testing.T) {
	e := galeraEngine()
	e.more = func() ([]string, string) { return nil, "program rsync not found" }
	_, _, missing := e.find()
	t.Setenv(e.dsnVar, "u@tcp(db.example:3306)/x")
	_, _, replaced := e.find()
	for _, c := range []struct {
		require string
		err     error
		fails   bool
	}{
		{"", missing, false},
		{"0", missing, false},
		{"1", missing, true},
		{"1", replaced, false},
		{"", fmt.Errorf("wrapped: %w", missing), false},
		{"", os.ErrPermission, true},
		{"1", os.ErrPermission, true},
	} {
		t.Setenv(requireVar, c.require)
		r := new(recorder)
		skipOrFail(r, c.err)
		if (r.fatal != "") != c.fails || (r.skip != "") == c.fails {
			t.Errorf("%s=%q, %v: skip %q, fatal %q", requireVar, c.require, c.err, r.skip, r.fatal)
		}
		if c.err != missing {
			continue
		}
		for _, part := range []string{"rsync", e.packages, e.dsnVar, e.binVar} {
			if !strings.Contains(r.skip+r.fatal, part) {
				t.Errorf("%q does not name %q", r.skip+r.fatal, part)
			}
		}
	}
}

func TestExternal(t *testing.T) {
	for kind, dsns := range map[Kind]map[string]string{
		KindPostgres: {
			"postgres://u:secret@db.example:6000/x":  "db.example:6000",
			"postgresql://u:secret@[::1]/x?a=b":      "[::1]:5432",
			"mysql://u:secret@db.example/x":          "",
			"host=db.example password=secret":        "",
			"postgres://u:secret@db.example:port/x%": "",
		},
		KindMariaDB: {
			"u:secret@tcp(db.example:3307)/x?parseTime=true": "db.example:3307",
			"u:secret@tcp(db.example)/":                      "db.example:3306",
			"u:p@ss/w(ord@tcp([::1]:3306)/x":                 "[::1]:3306",
			"tcp(db.example:1)/":                             "db.example:1",
			"u:secret@unix(/run/mysqld/mysqld.sock)/x":       "",
			"mysql://u:secret@db.example/x":                  "",
			"u:secret@tcp()/x":                               "",
		},
		KindRedis: {
			"db.example:6379":                  "db.example:6379",
			"redis://u:secret@db.example/2":    "db.example:6379",
			"rediss://u:secret@db.example:1/2": "db.example:1",
			"db.example":                       "",
			"http://u:secret@db.example":       "",
		},
		KindEtcd: {
			"http://db.example":                         "db.example:2379",
			"https://db.example:1,https://db.example:2": "db.example:1",
			"db.example:2379":                           "",
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			e := engines()[kind]
			for dsn, addr := range dsns {
				t.Setenv(e.dsnVar, dsn)
				r := new(recorder)
				s, _ := External(r, kind)
				if addr == "" {
					if s != nil || !strings.Contains(r.fatal, e.dsnVar) || strings.Contains(r.fatal, "secret") {
						t.Errorf("%q: %q, want an error that names %s and hides the password", dsn, r.fatal, e.dsnVar)
					}
					continue
				}
				if s == nil || s.Addr != addr || s.DSN != dsn || !s.External() {
					t.Errorf("%q: %+v, %s, want address %q", dsn, s, r.fatal, addr)
				}
			}
			t.Setenv(e.dsnVar, "")
			if s, ok := External(t, kind); ok || s != nil {
				t.Errorf("%s: %v without a variable", kind, s)
			}
		})
	}
}

func TestExternalIsUsed(t *testing.T) {
	t.Setenv("SNOWKEY_TEST_POSTGRES", "postgres://u@db.example/x")
	t.Setenv("SNOWKEY_TEST_REDIS", "db.example:6379")
	t.Setenv("SNOWKEY_TEST_ETCD", "http://db.example:2379")
	for _, s := range []*Server{Postgres(t), Redis(t), Etcd(t)} {
		if !s.External() {
			t.Errorf("%s is private", s)
		}
		for name, f := range map[string]func() error{
			"Start": s.Start, "Stop": s.Stop, "Kill": s.Kill,
			"Restart": s.Restart, "Pause": s.Pause, "Resume": s.Resume,
		} {
			err := f()
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), s.engine.dsnVar) {
				t.Errorf("%s: %v, want an error that names %s and %s", name, err, name, s.engine.dsnVar)
			}
		}
	}
	if s := NewRedis(t); s.External() {
		t.Errorf("NewRedis returned %s", s)
	}
	r := new(recorder)
	t.Setenv("SNOWKEY_TEST_REDIS", "db.example")
	if External(r, KindRedis); !strings.Contains(r.fatal, "SNOWKEY_TEST_REDIS: must be like host:6379") {
		t.Errorf("malformed DSN: %q", r.fatal)
	}
}

func TestMySQLs(t *testing.T) {
	t.Setenv("SNOWKEY_TEST_MYSQL", "")
	private := MySQLs(t)
	if len(private) != 1 || private[0] != MariaDB(t) {
		t.Errorf("without a variable: %v", private)
	}
	t.Setenv("SNOWKEY_TEST_MYSQL", "u@tcp(db.example:3306)/x")
	both := MySQLs(t)
	if len(both) != 2 || both[0] != private[0] || both[1].Addr != "db.example:3306" {
		t.Errorf("with a variable: %v", both)
	}
}

// TestBroken checks that programs that do not work fail the test, and never skip it.
func TestBroken(t *testing.T) {
	if !supported || testing.Short() {
		t.Skip("starts servers")
	}
	t.Setenv(requireVar, "")
	empty, broken := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\necho the reason; exit 3\n"
	if err := os.WriteFile(filepath.Join(broken, "redis-server"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{
		empty:  {"SNOWKEY_TEST_REDIS_BIN", "redis-server", empty},
		broken: {"redis at 127.0.0.1:", "exit status 3", "the reason"},
	} {
		t.Setenv("SNOWKEY_TEST_REDIS_BIN", dir)
		r := new(recorder)
		if s := New(r, KindRedis); s != nil || r.skip != "" {
			t.Errorf("%v, skip %q", s, r.skip)
		}
		for _, part := range want {
			if !strings.Contains(r.fatal, part) {
				t.Errorf("error %q does not hold %q", r.fatal, part)
			}
		}
	}
}

func TestPick(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	touch := func(dir, name string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	touch(a, "server", 0o755)
	touch(b, "server", 0o755)
	touch(b, "setup", 0o755)
	touch(a, "data", 0o644)
	touch(a, "only", 0o755)
	touch(b, "old-name", 0o755)
	for _, c := range []struct {
		programs [][]string
		want     []string
		reason   string
	}{
		{[][]string{{"server"}, {"setup"}}, []string{b + "/server", b + "/setup"}, ""}, // of one folder
		{[][]string{{"server"}, {"only"}, {"setup"}}, []string{a + "/server", a + "/only", b + "/setup"}, ""},
		{[][]string{{"server"}}, []string{a + "/server"}, ""},
		{[][]string{{"new-name", "old-name"}}, []string{b + "/old-name"}, ""},
		{[][]string{{"data"}}, nil, "data"},
		{[][]string{{"server"}, {"x", "y"}}, nil, "x or y"},
	} {
		got, reason := pick([]string{a, b}, c.programs)
		if !slices.Equal(got, c.want) || (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) {
			t.Errorf("%v: %v, %q, want %v, %q", c.programs, got, reason, c.want, c.reason)
		}
	}
}
