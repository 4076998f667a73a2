package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

var long = strings.Repeat("x", 65)

// Bad values of flags by the kind of value that the help names.
var badKinds = map[string][]string{
	"bool":     {"maybe", ""},
	"N":        {"", "-1", "1.5", "x", "+3", "0x3", "99999999999999999999"},
	"BITS":     {"", "-1", "65", "300", "x"},
	"DURATION": {"", "-1s", "10", "9999999h"},
	"ZONE":     {"", "Mars/Olympus", "+02:00"},
	"FORMAT":   {"", "base64", "dec imal", "ord", "Ord_", "_", "ord1_"},
	"DIALECT":  {"", "oracle"}, "PERIOD": {"", "year"}, "UNIT": {"", "minutes", "1ms"}, "STEP": {"", "swop"}, "FIELD": {"", "sequence"}, "TOOL": {"", "xo"},
	"PREFIX": {"", "Ord", "ord_", long},
	"NAME":   {"", "no such name"},
	"TIME":   {"", "soon", "2020-13-01", "0001-01-01T00:00:00Z"},
}

// Bad values of flags that are plain strings, and further ones of others, by name, or by command and name.
var badValues = map[string][]string{
	"dsn": {"", "nonsense", "mysql://h/", "redis://h/x", "etcd://", "dir:/tmp/x", "https://u:p@h/"}, "doctor dsn": {"", "file::memory:", "file:", "user:pw@tcp(h)/"},
	"backfill dsn": {"", "redis://localhost"}, "migrate dsn": {"", "redis://localhost", "file:none.db"},
	"lease": {"", "nonsense", "ftp://x/y", "postgres://h:badport/x", "x.txt"}, "store": {"nonsense"},
	"namespace": {"a b", "ä", long}, "token-file": {"", "/does/not/exist"}, "key-file": {"", "/does/not/exist", "."},
	"tls-cert": {"", "/does/not/exist"}, "tls-key": {"", "/does/not/exist"},
	"addr": {"", "8080", "host", ":x", ":99999"}, "metrics-addr": {"", "9464", ":x"}, "host": {"", "a/b", "h:80"},
	"table": {"", "a.b.c.d", "."}, "ddl table": {"", long}, "partitions table": {"", long},
	"column": {"", "a.b", long}, "ddl column": {"", long}, "partitions column": {long}, "schema": {long}, "view": {"", long}, "server": {"", long},
	"ddl prefix": {long}, "serial encode prefix": {"", long, "a\tb", "ä"}, "serial decode prefix": {"", long}, "separator": {"", "-----", "x", "ä"},
	"sql": {".", "a.b.c.d", long}, "references": {"", "order_id", "a.b.c.d", "a."},
	"created-at": {"", "a.b", long},
	"at":         {"", "soon", "1990-01-01", "-5"}, "not-before": {"", "never", "2026-13-01", "@x", "2026-11-21T25:00:00Z"},
	"from": {"", "soon", "1990-13-01"}, "to": {"later", "2010-01-01"},
	"tick": {"", "0", "-1ms", "1.5ms", "10", "1us"}, "time-bits": {"0", "64"},
	"gen worker": {"1024"}, "gen datacenter": {"32"}, "gen sequence": {"4096"}, "ddl worker": {"", "-1", "1024", "x"}, "ddl datacenter": {"32"}, "backfill worker": {"1024"},
	"workers": {"", "x", "1,", "-1"}, "export": {"", "/dev/null/x"},
	"shards": {"0", "65537"}, "count": {"0", "9999999999999"}, "batch": {"0", "100001"}, "fencing-token": {"0"},
	"max-ahead": {"0", "2h"}, "max-skew": {"0", "25h"}, "lock-timeout": {"0", "25h"}, "pause": {"-1s", "2h"},
	"serial encode tz": {"Europe/Vienna"}, "output": {""},
}

// What a command requires in addition to the wrong flag.
var otherwise = map[string][]string{
	"gen": {"--worker=3"}, "parse": {"1"}, "keys": {"."}, "range": {"yesterday", "today"}, "ddl": {"--dialect=postgres"},
	"partitions":    {"--by=month", "--dialect=postgres", "--table=orders"},
	"serial encode": {"1"}, "token seal": {"--type=order", "1"}, "token open": {"--type=order", "1"},
	"workers list": {"--dsn=file:none.db"}, "workers free": {"7", "--dsn=file:none.db", "--fencing-token=1"},
	"who":           {"1996573624012345677", "--dsn=file:none.db"},
	"workers floor": {"--dsn=file:none.db", "--namespace=x"}, "workers window": {"1m", "--dsn=file:none.db", "--namespace=x"}, "doctor": {"--dsn=file:none.db"},
	"backfill": {"--dsn=file:none.db", "--table=orders", "--created-at=made"},
	"migrate":  {"bigint", "--dsn=POSTGRES", "--table=orders"},
}

// Further flags that the wrong flag requires.
var beside = map[string][]string{
	"gen lease": {"-without-worker"}, "gen sequence": {"--at=2026-01-01"}, "gen namespace": {"-without-worker", "--lease=file:none.db"},
	"gen token-file": {"-without-worker", "--lease=https://127.0.0.1:1/x"},
	"ddl table":      {"view", "--view=v"}, "ddl view": {"view", "--table=t"}, "ddl column": {"check", "--table=t"},
	"ddl worker": {"generator"}, "ddl count": {"generator"}, "ddl datacenter": {"generator"}, "ddl namespace": {"generator"}, "ddl max-ahead": {"generator"},
	"ddl shards": {"shards", "--table=t", "--server=a"}, "ddl server": {"shards", "--table=t", "--shards=2"}, "ddl by": {"shards", "--table=t", "--shards=2", "--server=a"},
	"workers list token-file": {"--dsn=https://127.0.0.1:1/x"}, "workers free token-file": {"--dsn=https://127.0.0.1:1/x"},
	"who token-file":           {"--dsn=https://127.0.0.1:1/x"},
	"workers floor token-file": {"--dsn=https://127.0.0.1:1/x"}, "workers window token-file": {"--dsn=https://127.0.0.1:1/x"},
	"doctor token-file": {"--dsn=https://127.0.0.1:1/x"}, "doctor column": {"--table=t"},
	"backfill token-file": {"--lease=https://127.0.0.1:1/x"},
	"serve store":         {"-token"}, "serve token-file": {"--store=file:none.db"}, "serve admin": {"--store=file:none.db"},
}

// Each bad value of each flag is rejected with exit code 2 and a message that names the flag and,
// unless it may be a secret, quotes the value; standard output is empty.
func TestBadFlags(t *testing.T) {
	t.Chdir(t.TempDir()) // it must remain empty
	must(t, os.WriteFile("none.db", nil, 0o600))
	tried := 0
	eachCommand(func(cmd *cobra.Command, name string) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			values, known := badValues[name+" "+f.Name]
			if !known {
				values = badValues[f.Name]
			}
			values = append(slices.Clone(values), badKinds[f.Value.Type()]...)
			if len(values) == 0 {
				t.Errorf("%s --%s: no bad value of it is tried", name, f.Name)
			}
			for _, value := range slices.Compact(values) {
				tried++
				t.Run(fmt.Sprintf("%s --%s=%.20s", name, f.Name, value), func(t *testing.T) { badFlag(t, name, f.Name, value) })
			}
		})
	})
	if tried < 250 {
		t.Errorf("only %d values were tried", tried)
	}
	if left, _ := os.ReadDir("."); len(left) > 1 { // none.db is there by itself
		t.Errorf("a file was made: %v", left)
	}
}

func badFlag(t *testing.T, name, flag, value string) {
	args := strings.Fields(name)
	needs := slices.Clone(otherwise[name])
	for i := range needs {
		if needs[i] == "--dsn=POSTGRES" {
			needs[i] = "--dsn=" + testserver.Postgres(t).DSN
		}
	}
	env := Env{}
	for _, extra := range beside[name+" "+flag] {
		switch extra {
		case "-without-worker":
			needs = nil
		case "-token":
			env.Getenv = environment("SNOWKEY_TOKEN", "a-token-of-16-or-more")
		default:
			needs = append(needs, extra)
		}
	}
	args = append(args, needs...)
	args = append(args, "--"+flag+"="+value)
	got := runWith(t, env, args...)
	if got.code != 2 {
		t.Fatalf("%q: exit code %d\n%s%s", args, got.code, got.out, got.err)
	}
	if got.out != "" {
		t.Errorf("%q prints %q", args, got.out)
	}
	named := strings.Contains(got.err, "--"+flag) || strings.HasSuffix(flag, "-bits") && (strings.Contains(got.err, "widths") || strings.Contains(got.err, "--time-bits"))
	if !named {
		t.Errorf("%q: the message does not name it: %s", args, got.err)
	}
	secret := flag == "token" || flag == "dsn" || flag == "lease" || flag == "store" || flag == "with"
	quoted := strings.Trim(fmt.Sprintf("%q", value[:min(len(value), 40)]), `"`)
	if !secret && !strings.HasSuffix(flag, "-bits") && flag != "tz" && !strings.Contains(got.err, quoted) && !strings.Contains(got.err, value[:min(len(value), 40)]) {
		t.Errorf("%q: the message does not quote it: %s", args, got.err)
	}
	if secret && value != "" && strings.Contains(strings.ReplaceAll(strings.ReplaceAll(got.err, dsn.Forms, ""), "etcd://host", ""), value) {
		t.Errorf("%q: the message shows it: %s", args, got.err)
	}
}

func eachCommand(do func(cmd *cobra.Command, name string)) {
	a := &app{out: bufio.NewWriter(os.Stderr)}
	var walk func(cmd *cobra.Command, path string)
	walk = func(cmd *cobra.Command, path string) {
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				name := strings.TrimSpace(path + " " + c.Name())
				do(c, name)
				walk(c, name)
			}
		}
	}
	walk(a.root(), "")
}

// Exit codes, and messages on standard error.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	must(t, os.WriteFile(empty, []byte("\n"), 0o600))
	fresh := filepath.Join(dir, "fresh.db")
	must(t, os.WriteFile(fresh, nil, 0o600))
	for _, c := range []struct {
		args string
		code int
		says string // on standard error
	}{
		{"", 0, ""},
		{"gen --worker 3", 0, ""},
		{"gen", 2, "--lease"},
		{"gen 5 --worker 3", 2, "takes no arguments (got 1)\n"},
		{"gen --worker 3 --datacenter", 2, "needs an argument"},
		{"gen --worker 3 --lease file:x.db", 2, "--lease chooses the worker ID"},
		{"gen --worker 3 --namespace x", 2, "--namespace requires --lease"},
		{"gen --worker 3 --unsigned --format base58", 2, "--format base58"},
		{"gen --worker 1 --preset mastodon", 2, "--worker 1: must be at most 0"},
		{"gen --at 2026-01-01 -n 4097", 2, "--count 4097: must be at most 4096"},
		{"gen --at 2026-01-01 --lease file:none.db", 2, "--at composes ids without a lease"},
		{"gen --at 2026-01-01 --not-before 2026-01-01", 2, "--at and --not-before"},
		{"gen --worker 3 --sequence 1", 2, "--sequence requires --at"},
		{"gen --worker 3 --not-before 2029-12-31", 1, "is 3 years ahead of the clock"},
		{"gen --worker 3 --epoch 2999-01-01", 2, "--epoch 2999-01-01T00:00:00Z: is in the future"},
		{"gen --worker 3 --time-bits 10 --worker-bits 5", 1, "run out"},
		{"gen --lease https://127.0.0.1:1/", 2, "--lease: https://127.0.0.1:1/ requires a token"},
		{"parse", 1, "standard input"},
		{"parse 1 -", 2, "only argument"},
		{"parse --to hex 1 x", 1, `"x"`},
		{"parse --to hex --json 1", 2, "--to prints converted ids only"},
		{"parse --to base58 --unsigned --time-bits 64 1", 2, "--to base58 ends at the largest int64"},
		{"parse 5doYnWboBWc", 1, "base58 for 1996573624012345677 or base62 for 4735482757908314898"},
		{"serial encode --from base58 5doYnWboBWc", 0, ""},
		{"serial encode --scheme mod97 1", 2, "--scheme requires --check"},
		{"serial encode --tz Europe/Vienna 1", 2, "so a time may occur twice: give --fold, or use UTC"},
		{"serial encode --tz local 1", 2, "--tz Local: must be a named zone"},
		{"doctor --dsn env:SNOWKEY_NO_SUCH_VARIABLE", 2, "SNOWKEY_NO_SUCH_VARIABLE"},
		{"doctor --dsn https://127.0.0.1:1/", 2, "requires a token"},
		{"workers lst --dsn a.db", 2, `unknown command "lst" for "snowkey workers"`},
		{"token --key-file x", 2, "requires a command, before all flags: seal, open or key"},
		{"help ddl view", 0, ""},
		{"help workers lst", 2, `unknown command "lst" for "snowkey workers"`},
		{"workers list --dsn a.db --token-file x", 2, "http(s)"},
		{"serve --token-file " + empty, 2, "requires --store"},
		{"serve --admin", 2, "requires --store"},
		{"parse -7", 2, "unknown shorthand flag: '7' in -7; write -- before an argument that begins with -"},
		{"parse -- -7", 1, "must not be negative"},
		{"parse ''", 1, "is empty"},
		{"parse --preset twitter --time-bits 41 1", 2, "--preset twitter and --time-bits"},
		{"range now", 2, "two times"},
		{"range now now-5", 2, `TO "now-5"`},
		{"range -- -1h now", 0, ""},
		{"layout --all --tick 10ms", 2, "--all"},
		{"ddl nothing --dialect postgres", 2, `"nothing"`},
		{"ddl domain --dialect mysql", 2, "--dialect mysql: MySQL has no domains, use a CHECK\n"},
		{"partitions --by day --dialect sqlite --table x", 2, "--dialect sqlite: SQLite has no partitions\n"},
		{"ddl shards --dialect postgres --table t --shards 2", 2, "shards requires --shards and --server\n"},
		{"ddl check --dialect postgres", 2, "check requires --table\n"},
		{"partitions --by day --dialect postgres", 2, "--table is required"},
		{"ddl generator --dialect postgres --column key", 2, `--column "key": requires --table`},
		{"ddl generator --dialect postgres --prefix " + strings.Repeat("p", 60), 2, `--prefix "` + strings.Repeat("p", 60) + `": with "generator" after it has 69 bytes`},
		{"ddl shards --dialect postgres --table t --shards 2 --server a,b,c", 2, "--server [a b c]: must be at most 2, one for each shard"},
		{"ddl shards --dialect sqlite --table t --shards 2 --server a", 2, "--dialect sqlite: shards are for PostgreSQL only"},
		{"ddl generator --dialect mariadb", 2, "--dialect mariadb: the generator is for PostgreSQL only; make the ids in Go"},
		{"ddl --dialect postgres --shards 2", 2, "--shards does not apply to functions"},
		{"partitions --by day --dialect postgres --table t --to tomorrow --count 3", 2, "--to and --count"},
		{"workers list --dsn " + dir + "/none.db", 1, "no such file"},
		{"workers free x --fencing-token 1 --dsn a.db", 2, `WORKERID "x"`},
		{"workers free 1 --dsn a.db", 2, "--fencing-token is required"},
		{"workers floor --dsn a.db", 2, "--namespace is required, also for \"default\""},
		{"workers floor --dsn a.db --namespace", 2, "needs an argument"},
		{"workers floor x --dsn a.db --namespace x", 2, "takes no arguments (got 1)"},
		{"workers floor --dsn a.db --namespace ü", 2, `--namespace "ü"`},
		{"workers floor --dsn " + dir + "/none.db --namespace default", 1, "no such file"},
		{"workers floor --namespace default --dsn file:" + fresh, 1, "fresh.db has no namespace \"default\"\n"},
		{"workers window --namespace x --dsn a.db", 2, "takes one duration (got 0)"},
		{"workers window 5 --namespace x --dsn a.db", 2, `DURATION "5"`},
		{"workers window 2.5ms --namespace x --dsn a.db", 2, `DURATION "2.5ms": must be whole milliseconds`},
		{"workers window 1ms --namespace x --dsn a.db", 2, "from 2ms to 8784h"}, // no generator accepts 1ms
		{"workers window 9000h --namespace x --dsn a.db", 2, `DURATION "9000h"`},
		{"workers window 1m --dsn a.db", 2, "--namespace is required"},
		{"workers window 1m --namespace default --dsn file:" + fresh, 1, "fresh.db has no namespace \"default\"\n"},
		{"workers list --dsn file:" + fresh, 0, "no worker ID of namespace \"default\" was ever leased from SQLite"},
		{"workers free 3 --fencing-token 1 --dsn file:" + fresh, 1, "worker ID 3 of namespace \"default\" was never leased from SQLite"},
		{"doctor --dsn " + dir + "/none.db", 3, ""},
		{"doctor --dsn a.db --column x", 2, "--table"},
		{"doctor --dsn a.db --table x --table y --table z --column a --column b", 2, "2 times and --table 3 times"},
		{"doctor --dsn redis://h --table x", 2, "has no tables"},
		{"serve --store a.db", 2, "requires a token"},
		{"serve --store a.db --token-file " + empty, 2, "one line"},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			if args[i] == "''" {
				args[i] = ""
			}
		}
		got := run(t, args...)
		if got.code != c.code || !strings.Contains(got.err, c.says) || c.says == "" && got.err != "" {
			t.Errorf("snowkey %s: exit code %d, want %d; %q, want %q", c.args, got.code, c.code, got.err, c.says)
		}
		if got.code == 2 && got.out != "" {
			t.Errorf("snowkey %s: prints %q", c.args, got.out)
		}
	}
}
