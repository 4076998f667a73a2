package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The second call continues with the table. With a shorter time to keep it drops the oldest
// partitions.
func TestRun(t *testing.T) {
	for name, dsn := range map[string]string{"postgres": testserver.NewPostgres(t).DSN, "mariadb": testserver.NewMariaDB(t).DSN} {
		t.Run(name, func(t *testing.T) {
			opt := options{db: dsn, by: "day", keep: 4, ahead: 2, now: time.Now()}
			for _, c := range []struct{ keep, partitions, orders int }{{4, 7, 100}, {4, 7, 200}, {2, 5, 300}} {
				opt.keep = c.keep
				var out bytes.Buffer
				err := run(t.Context(), &out, opt)
				text := out.String()
				if err != nil || strings.Count(text, " orders\n") != c.partitions || strings.Contains(text, "DROP ") != (c.keep == 2) || !strings.Contains(text, " "+string(rune('0'+c.orders/100))+"00 orders\n") {
					t.Fatalf("%+v: %v\n%s", c, err, text)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for want, opt := range map[string]options{
		"year":                    {db: "postgres://u:secret@127.0.0.1:1/x", by: "year", ahead: 1, now: time.Now()},
		"refused":                 {db: "u:secret@tcp(127.0.0.1:1)/x", by: "day", ahead: 1, now: time.Now()},
		"-db: invalid bool value": {db: "u:secret@tcp(127.0.0.1:1)/x?parseTime=maybe", by: "day", now: time.Now()},
	} {
		t.Run(want, func(t *testing.T) {
			if err := run(t.Context(), new(bytes.Buffer), opt); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}
