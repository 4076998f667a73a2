package cli

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write testdata again")

// published are ids of public documents: see testdata/presets.tsv.
const published = "304645189412683777\n210462857140252672\n1541815603606036480\n1807674536214897063\n1382350606417817604\n20\n2244994945\n2383568809444681765\n01226N0640J7Q\n" +
	"501438102971408389\n0DXBQ9H279R05\n180363646902239241\n783490216609587200\n4582043184791923\n129053495681099\nuser_01kmfjypewe1wrfeb01wjfxand\n3jj55ss4wcs2n\nch_3MmlLrLkdIwHu7ix0snN0B15\n241294492511762325\n738529527931269425"

const someID = "1996573624012345677"

// The exact output of each command.
var golden = []struct {
	name  string
	args  string
	stdin string
	tty   bool
}{
	{name: "gen", args: "gen -n 3 --worker 3"},
	{name: "gen-number", args: "gen --worker 3 --datacenter 2 --format base58"},
	{name: "gen-json", args: "gen -n 2 --worker 3 --json"},
	{name: "gen-sonyflake", args: "gen -n 2 --worker 65535 --preset sonyflake --format base32"},
	{name: "gen-not-before", args: "gen --worker 3 --not-before +5m"},
	{name: "gen-prefixed", args: "gen -n 2 --worker 3 --format ord_"},
	{name: "gen-at", args: "gen --at 2026-01-01 -n 2 --worker 3 --sequence 7"},
	{name: "gen-nothing", args: "gen"},
	{name: "parse", args: "parse " + someID},
	{name: "parse-tty", args: "parse --tz Europe/Vienna " + someID, tty: true},
	{name: "parse-json", args: "parse --json --tz Europe/Vienna " + someID},
	{name: "parse-bad-lines", args: "parse", stdin: strings.Repeat("x\n", 150)},
	{name: "parse-several", args: "parse 1 0x1bb54121fb2b914d 1QDA147XJQ4AD"},
	{name: "parse-ambiguous", args: "parse --brief 5doYnWboBWc 12345678912 2NUKMIAa421"},
	{name: "parse-to", args: "parse --to base58", stdin: "1996573624012345677\nbad\n[\"0x1bb54121fb2b914d\", 1QDA147XJQ4AD] 0"},
	{name: "parse-objects", args: "parse --brief", stdin: `{"id":"1996573624012345677"}` + "\n" + `{"name":"x","id":1996573624012345677}` + "\n" + `{"id":null}` + "\n" + `{"id":["1"]}` + "\n" + `{"id":"1"` + "\n{}\n"},
	{name: "parse-to-unsigned", args: "parse --unsigned --time-bits 64 --to hex -1 18446744073709551615"},
	{name: "parse-input", args: "parse --brief", stdin: "1996573624012345677\nbad\n\n[\"1996573624012345678\", '0x1bb54121fb2b914d'],\n-5 9223372036854775808 007\n1996573624012345679"},
	{name: "parse-unsigned", args: "parse --unsigned --time-bits 42 --worker-bits 10 --sequence-bits 12 --epoch 1970-01-01 --json 18446744073709551615 -1"},
	{name: "parse-prefixed", args: "parse ORD_1QDA147XJQ4AD"},
	{name: "parse-prefixed-from", args: "parse --brief --from ord_ ord_1qda147xjq4ad cus_1qda147xjq4ad 1QDA147XJQ4AD"},
	{name: "parse-prefixed-bad", args: "parse --brief ord_1qda147xjq4a ord_1qda147xjq4adu 1_1qda147xjq4ad ord__1qda147xjq4ad ord_8000000000000 order_id"},
	{name: "parse-to-prefixed", args: "parse --to ord_ 1996573624012345677 cus_1qda147xjq4ad"},
	{name: "parse-unsigned-text", args: "parse --unsigned --time-bits 42 --worker-bits 10 --sequence-bits 12 --epoch 1970-01-01 18446744073709551615"},
	{name: "parse-outside", args: "parse --preset javascript-safe " + someID},
	{name: "parse-many-workers", args: "parse --preset many-workers " + someID},
	{name: "parse-rounded", args: "parse --preset twitter 2124686841461342200"},
	{name: "parse-rounded-workers", args: "parse --preset twitter --json --workers 1,1023 2124686841461342200"},
	{name: "parse-rounded-list", args: "parse --brief 1996573624012345600 1996573624112345600 1996573624212345600"},
	{name: "parse-column", args: "parse --brief --column Order", stdin: "phone,order,id\n436601234567,1996573624012345677,1\n436601234567,\"1996573624012345678\",2"},
	{name: "parse-column-id", args: "parse --brief", stdin: "   id   | phone\n--------+------\n 1996573624012345677 | 436601234567\n"},
	{name: "parse-table-psql", args: "parse --brief", stdin: "         id          \n---------------------\n 1996573624012345677\n(1 row)\n\n"},
	{name: "parse-table-mysql", args: "parse --brief --column k", stdin: "+---+---------------------+\n| n | k                   |\n+---+---------------------+\n" +
		"| 3 | 1996573624012345677 |\n| 4 | 1996573624012345678 |\n+---+---------------------+\n2 rows in set (0.001 sec)\n\n"},
	{name: "parse-column-missing", args: "parse --brief --column no", stdin: "phone,order\n436601234567,1996573624012345677\n"},
	{name: "parse-published", args: "parse --brief", stdin: published},
	{name: "parse-foreign", args: "parse 019d1f2f-2b8c-7a1e-8b53-1e7c2d3f4a5b 01ARZ3NDEKTSV4RRFFQ69G5FAV 507f1f77bcf86cd799439011 0ujtsYcgvSTl8PAuAdqWYSMnLOv 3jj55ss4wcs2n 5CNxMvANbvB bzpkbr871zrkp"},
	{name: "parse-url", args: "parse --brief https://x.com/a/status/1996573624012345677?s=20"},
	{name: "parse-bwmarrin", args: "parse --from bwmarrin58 --to decimal 5CNxMvANbvB"},
	{name: "parse-brief-json", args: "parse --brief --json 1"},
	{name: "range", args: "range 2026-11-20 2026-11-21"},
	{name: "range-mysql", args: "range yesterday today --tz Europe/Vienna --sql o.id --dialect mysql"},
	{name: "range-quotes", args: `range yesterday today --sql a"b`},
	{name: "range-json", args: "range --json --sql id 2026-11-20T10:00:00+02:00 @1795262400.5"},
	{name: "range-outside", args: "range 1990-01-01 2026-01-01"},
	{name: "range-backwards", args: "range now -1h"},
	{name: "layout", args: "layout"},
	{name: "layout-custom", args: "layout --epoch 2026-01-01 --tick 10ms --time-bits 40 --rollback-bits 2 --worker-bits 8 --sequence-bits 13 --sequence-first"},
	{name: "layout-future", args: "layout --epoch 2030-01-01"},
	{name: "layout-expired", args: "layout --time-bits 20 --worker-bits 8 --sequence-bits 8 --unsigned"},
	{name: "layout-json", args: "layout --preset sonyflake --json"},
	{name: "layout-all", args: "layout --all"},
	{name: "layout-all-json", args: "layout --all --json"},
	{name: "keys", args: "keys ./testdata/keys/models"},
	{name: "keys-gorm", args: "keys --for gorm ./testdata/keys/models"},
	{name: "keys-gqlgen", args: "keys --for gqlgen ./testdata/keys/models"},
	{name: "keys-sqlc", args: "keys --for sqlc ./testdata/keys/models"},
	{name: "keys-swag", args: "keys --for swag ./testdata/keys/models"},
	{name: "keys-jsonschema", args: "keys --for jsonschema ./testdata/keys/models"},
	{name: "keys-pointer", args: "keys --for gorm ./testdata/keys/pointer"},
	{name: "keys-taken", args: "keys ./testdata/keys/taken"},
	{name: "keys-twice", args: "keys ./testdata/keys/twice"},
	{name: "keys-pair", args: "keys ./testdata/keys/pair"},
	{name: "keys-no-tool", args: "keys --for xo ./testdata/keys/pair"},
	{name: "ddl", args: "ddl --dialect postgres"},
	{name: "ddl-drop", args: "ddl drop --dialect mysql"},
	{name: "ddl-check", args: "ddl check --dialect mysql --table orders --column order_id"},
	{name: "ddl-check-sqlite", args: "ddl check --dialect sqlite --schema main --table Orders"},
	{name: "ddl-view", args: "ddl view --dialect sqlite --table orders --view orders_decoded"},
	{name: "ddl-workers", args: "ddl workers --dialect mysql"},
	{name: "ddl-shards", args: "ddl shards --dialect postgres --table orders --shards 3 --server alpha,beta"},
	{name: "ddl-generator-mysql", args: "ddl generator --dialect mariadb"},
	{name: "ddl-generator-count", args: "ddl generator --dialect postgres --worker 3 --count 2 --datacenter 40"},
	{name: "ddl-drop-generator", args: "ddl drop-generator --dialect postgres --namespace orders"},
	{name: "ddl-require-key", args: "ddl require-key --dialect mysql --table orders"},
	{name: "partitions", args: "partitions --by month --dialect postgres --table orders"},
	{name: "partitions-mysql", args: "partitions --by day --dialect mysql --table orders --from 2026-12-01 --to 2026-12-04 --tz Europe/Vienna"},
	{name: "partitions-clause", args: "partitions --by week --dialect mysql --table orders --count 2 --clause"},
	{name: "serial-encode", args: "serial encode --prefix PAY --separator - --check " + someID + " 0x1"},
	{name: "serial-decode", args: "serial decode --prefix PAY --separator - --check", stdin: "PAY-20251204133341165-0697-0333-51\nPAY-20251204133341165-0697-0333-84\n"},
	{name: "serial-decode-typed", args: "serial decode --prefix PAY --separator - --check --json", stdin: "pay 20251204 133341165 o697 o333 51\nPAY–2O251204133341165–0697–0333–51\npay 20251204 133341165 o697 o333 5\n"},
	{name: "token-no-type", args: "token seal 1"},
	{name: "token-seal", args: "token seal --type order " + someID + " 0x7 ord_1qda147xjq4ad"},
	{name: "token-seal-prefix", args: "token seal --type order --prefix ord " + someID},
	{name: "token-seal-json", args: "token seal --type order --json --prefix ord", stdin: `{"id":"` + someID + `"}`},
	{name: "token-seal-bad", args: "token seal --type order x -5 9223372036854775808 ord_7 5doYnWboBWc"},
	{name: "token-open", args: "token open --type order", stdin: openTokens},
	{name: "token-open-prefix", args: "token open --type order --prefix ord --json", stdin: openTokens},
	{name: "workers", args: "workers"},
	{name: "version", args: "--version"},
	{name: "no-such-command", args: "layuot"},
	{name: "no-such-flag", args: "layout --colour"},
}

func TestGolden(t *testing.T) {
	inWorkspace(t)
	for _, c := range golden {
		t.Run(c.name, func(t *testing.T) {
			env := Env{In: strings.NewReader(c.stdin), Getenv: environment(keysVariable, someKeys), Clock: at(noon), OutTTY: c.tty, ErrTTY: c.tty}
			got := runWith(t, env, strings.Fields(c.args)...)
			compare(t, c.name, "snowkey "+c.args, got)
		})
	}
}

// The help of every command has an example.
func TestHelp(t *testing.T) {
	help := func(cmd *cobra.Command, name string) {
		line := strings.TrimSpace("snowkey " + name)
		file := "help-" + strings.ReplaceAll(line, " ", "-")
		t.Run(file, func(t *testing.T) {
			if !strings.Contains(cmd.Example, "  "+line) && !strings.Contains(cmd.Example, "("+line) {
				t.Errorf("its example does not show it: %q", cmd.Example)
			}
			got := run(t, append(strings.Fields(name), "--help")...)
			if got.code != 0 || got.err != "" {
				t.Errorf("exit code %d, %s", got.code, got.err)
			}
			for line := range strings.Lines(got.out) {
				if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 {
					t.Errorf("wider than 80 columns: %s", line)
				}
			}
			compare(t, file, line+" --help", got)
		})
	}
	help((&app{out: bufio.NewWriter(os.Stderr)}).root(), "")
	eachCommand(help)
}

func compare(t *testing.T, name, line string, got result) {
	t.Helper()
	text := fmt.Sprintf("$ %s\n%s", strings.TrimSpace(line), got.out)
	if got.err != "" {
		text += "--- stderr\n" + got.err
	}
	text += fmt.Sprintf("--- exit %d\n", got.code)
	file := filepath.Join("testdata", name+".golden")
	if *update {
		must(t, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if string(want) != text {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
