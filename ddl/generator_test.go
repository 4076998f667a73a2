package ddl

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// All errors are reported at once, with field and value.
func TestGeneratorErrors(t *testing.T) {
	valid, long := Generator{Dialect: Postgres}, strings.Repeat("x", 60)
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"nothing", only(Generator{}.Create()), []string{`Dialect ""`}},
		{"all", only(Generator{
			Dialect: Postgres, Layout: core.Layout{Tick: 1, TimeBits: 41, WorkerBits: 2}, Schema: "\x00", Table: "a b", Namespace: "ä", Prefix: long, MaxAhead: 1,
		}.Drop()), []string{"Layout.Tick", "Schema", `Prefix "` + long + `": with "generator" after it has 69 bytes`, `Namespace "ä"`, "MaxAhead 1ns: must be 1s to 1h", `Table "\x00.a b"`}},
		{"unsigned", only(Generator{Dialect: Postgres, Layout: core.Layout{TimeBits: 41, Unsigned: true}}.Default()), []string{"Layout.Unsigned true"}},
		{"worker IDs", only(Generator{Dialect: Postgres, Workers: []int64{1024, 3, 3, -1}}.Create()), []string{"Workers -1: must be 0 to 1023", "Workers 3: must be unique", "Workers 1024"}},
		{"count", only(Generator{Dialect: Postgres, Count: 65}.Create()), []string{"Count 65: must be 1 to 64"}},
		{"count of two", only(Generator{Dialect: Postgres, Count: 1, Workers: []int64{1, 2}}.Create()), []string{"Count 1: must be 2, as many as"}},
		{"count beyond the layout", only(Generator{Dialect: Postgres, Layout: core.Layout{TimeBits: 41, WorkerBits: 1}, Count: 3}.Create()), []string{"Count 3: must be 1 to 2"}},
		{"datacenter", only(Generator{Dialect: Postgres, Datacenter: ptr(32), Count: 32}.Create()), []string{"Datacenter 32: must be 0 to 31 in this layout"}},
		{"no datacenters", only(Generator{Dialect: Postgres, Layout: core.Layout{TimeBits: 41, WorkerBits: 10}, Datacenter: new(int64)}.Create()), []string{"Datacenter 0: must be nil"}},
		{"workers of a datacenter", only(Generator{Dialect: Postgres, Datacenter: new(int64), Workers: []int64{32}}.Create()), []string{"Workers 32: must be 0 to 31 in this layout, with a Datacenter"}},
		{"two hours", only(Generator{Dialect: Postgres, MaxAhead: 2 * time.Hour}.Create()), []string{"MaxAhead 2h0m0s"}},
		{"short layout", only(Generator{Dialect: Postgres, Layout: core.Layout{TimeBits: 18, SequenceBits: 40}}.Create()), []string{"MaxAhead 10s: must be at most a hundredth of the layout's time, 4m22.144s"}},
		{"column", only(valid.SetDefault("", "orders")), []string{`column ""`}},
		{"no table", only(valid.SetDefault("id")), []string{"table"}},
		{"long table", only(valid.SetDefault("id", "a", "b", "c")), []string{`table "[\"a\" \"b\" \"c\"]"`}},
	} {
		t.Run(c.name, func(t *testing.T) { wrongFields(t, c.err, c.want...) })
	}
}

// A layout with few ids gives a session fewer slots at a time. A block divides the 32 values
// that a sequence skips after a crash.
func TestGeneratorBlocks(t *testing.T) {
	for want, l := range map[int64]core.Layout{32: core.Twitter(), 8: core.JavaScriptSafe(), 4: core.Sonyflake(), 16: {TimeBits: 41, WorkerBits: 10, SequenceBits: 7}, 1: {TimeBits: 50, WorkerBits: 10}} {
		g := &generator{layout: compile(nil, l)}
		if got := g.block(); got != want || maxBlock%got != 0 {
			t.Errorf("%v: blocks of %d, want %d", l, got, want)
		}
	}
}

// Every placeholder is filled in.
func TestGeneratorTemplates(t *testing.T) {
	for _, l := range []core.Layout{core.Twitter(), core.Sonyflake()} {
		g := Generator{Dialect: Postgres, Layout: l, Workers: []int64{5, 2}}
		for name, write := range map[string]func() (Script, error){"create": g.Create, "drop": g.Drop} {
			script, err := write()
			if err != nil || strings.Contains(strings.ReplaceAll(script.String(), "'{}'", ""), "{}") {
				t.Errorf("%s: %v", name, err)
			}
			for _, statement := range script {
				for _, word := range strings.FieldsFunc(statement, func(r rune) bool { return strings.ContainsRune(" \n(),;", r) }) {
					if strings.HasPrefix(word, "{") {
						t.Errorf("%s: %s is left in %.60s", name, word, statement)
					}
				}
			}
		}
		script, _ := g.Create()
		if last := script[len(script)-1]; !strings.Contains(last, "ARRAY[2, 5]::bigint[]") {
			t.Error(last)
		}
	}
}

func ptr(n int64) *int64 { return &n }
