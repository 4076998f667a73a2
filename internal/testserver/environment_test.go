package testserver

import (
	"fmt"
	"os"
	"path/filepath"
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
					continue
				}
				for _, control := range []func() error{s.Start, s.Stop, s.Kill, s.Restart, s.Pause, s.Resume} {
					if control() == nil {
						t.Errorf("%s is given, and is controlled", s)
					}
				}
			}
			t.Setenv(e.dsnVar, "")
			if s, ok := External(t, kind); ok || s != nil {
				t.Errorf("%s: %v without a variable", kind, s)
			}
		})
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
