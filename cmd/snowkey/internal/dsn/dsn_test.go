package dsn

import (
	"context"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		kind Kind
		name string
	}{
		"postgres://u:p@h:5433/db?sslmode=disable": {Postgres, "PostgreSQL h:5433/db"},
		"postgresql://h/db":                        {Postgres, "PostgreSQL h:5432/db"},
		"host=h user=u password='p w' dbname=db port=5433 sslmode=disable TimeZone=UTC": {Postgres, "PostgreSQL h:5433/db"},
		"mysql://u:p@h/db?charset=utf8mb4":                                              {MySQL, "MySQL h:3306/db"},
		"mariadb://u:p@[::1]:3307/db":                                                   {MySQL, "MySQL [::1]:3307/db"},
		"u:p@w@tcp(h:3306)/db?tls=false":                                                {MySQL, "MySQL h:3306/db"},
		"root@unix(/run/mysqld.sock)/db":                                                {MySQL, "MySQL /run/mysqld.sock/db"},
		"file:x.db":                                                                     {SQLite, "SQLite x.db"},
		"file:///tmp/a%20b?_pragma=x":                                                   {SQLite, "SQLite /tmp/a b"},
		"a.sqlite":                                                                      {SQLite, "SQLite a.sqlite"},
		"/data/A.DB":                                                                    {SQLite, "SQLite /data/A.DB"},
		`C:x.db`:                                                                        {SQLite, "SQLite C:x.db"},
		"file:sqlite:x.db":                                                              {SQLite, "SQLite sqlite:x.db"},
		"redis://:p@h/2":                                                                {Redis, "Redis h:6379/2"},
		"rediss://h:6380":                                                               {Redis, "Redis h:6380/0"},
		"etcd://a,b:1,[::1]:2":                                                          {Etcd, "etcd a,b:1,[::1]:2"},
		"etcds://u:p@a/":                                                                {Etcd, "etcd a"},
		"https://h/leases":                                                              {HTTP, "https://h/leases"},
	} {
		d, err := Parse(text)
		if err != nil || d.Kind != want.kind || d.Name != want.name {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", text, d, err, want)
		}
	}
	d, err := Parse("etcds://u:p@a,b:1")
	if err != nil || strings.Join(d.Endpoints, " ") != "https://a:2379 https://b:1" {
		t.Errorf("%v, %v", d, err)
	}
	for _, text := range []string{"", " ", "x", "x.txt", "h:5432", "oracle://h/x", "postgres://h:x/db", "mysql://h", "mysql:///db", "u@tcp(h)", "u@tcp(h)/", "redis://", "redis://h/x", "etcd://", "etcd://a,,b", "etcd://a/b", "dir:/var/lib/x", "file:", "file::memory:", "file:x?mode=memory", "http://", "https://h?x=1", "postgres://h/db\n", "sqlite:x.db", "sqlite3:/x.db", "mysql:u@h/x.db", "SQLite:///x.db"} {
		if d, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", text, d)
		}
	}
	for text, want := range map[string]string{"sqlserver://h?database=x": "SQL Server", "Oracle://h/x": "Oracle"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want+", which is not supported: keep leases in") {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

func TestHide(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://u:p%40ss@h/db":         "postgres://u:…@h/db",
		"u:pa:ss@word@tcp(h)/db":           "u:…@tcp(h)/db",
		"postgres://h/db?password=hunter2": "postgres://h/db?password=…",
		"redis://h":                        "redis://h",
		"host=h password=hunter2 user=u":   "host=h password=… user=u",
		"host=h password = 'a b' user=u":   "host=h password = … user=u",
	} {
		if got := Hide(text, Secrets(text)); got != want {
			t.Errorf("Hide(%q) = %q, want %q", text, got, want)
		}
	}
	if got := Hide("p@ss", Secrets("postgres://u:p%40ss@h/db")); got != "…" {
		t.Errorf("a password without its escapes is shown: %q", got)
	}
}

// An etcd that does not respond has the same error whether it is asked for a user first or not.
func TestEtcdIsAway(t *testing.T) {
	for _, user := range []string{"", "u:p@"} {
		t.Run(user, func(t *testing.T) {
			t.Parallel() // it waits for the timeout
			d, err := Parse("etcd://" + user + "127.0.0.1:1")
			if err == nil {
				_, err = d.Open(t.Context(), "", false)
			}
			if err == nil || err.Error() != "etcd 127.0.0.1:1: no member responds" {
				t.Error(err)
			}
		})
	}
}

// A signal that ends the wait is no error of the server.
func TestOpenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for text, want := range map[string]string{
		"postgres://127.0.0.1:1/x": "PostgreSQL 127.0.0.1:1/x: interrupted",
		"mysql://127.0.0.1:1/x":    "MySQL 127.0.0.1:1/x: interrupted",
		"redis://127.0.0.1:1":      "Redis 127.0.0.1:1/0: interrupted",
		"etcd://127.0.0.1:1":       "etcd 127.0.0.1:1: interrupted",
	} {
		d, err := Parse(text)
		if err == nil {
			_, err = d.Open(ctx, "", false)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
