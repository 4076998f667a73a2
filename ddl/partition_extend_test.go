package ddl

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// The missing partitions for tables with partitions of all kinds, and what Extend splits.
func TestLacking(t *testing.T) {
	widest := core.Layout{Epoch: core.Twitter().Epoch, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
	narrow := core.JavaScriptSafe()
	narrow.Epoch = widest.Epoch
	from := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	for _, layout := range []core.Layout{widest, narrow} {
		s := compile(new(fields.Errors), layout)
		at := func(month, day int) int64 {
			id, err := layout.FirstAt(time.Date(2026, time.Month(month), day, 0, 0, 0, 0, time.UTC))
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		for _, c := range []struct {
			name    string
			have    []Partition
			missing string // for three months, or the error
			splits  string
		}{
			{"nothing", nil, "p202611 p202612 p202701", ""},
			{"a default", []Partition{{Name: "rest", Min: math.MinInt64, Max: math.MaxInt64, Default: true}}, "p202611 p202612 p202701", ""},
			{"weeks that cover a month", []Partition{{Name: "a", Min: at(10, 26), Max: at(11, 9)}, {Name: "b", Min: at(11, 9), Max: at(12, 1)}}, "p202612 p202701", ""},
			{"the same, out of order", []Partition{{Name: "b", Min: at(11, 9), Max: at(12, 1)}, {Name: "a", Min: math.MinInt64, Max: at(11, 9)}}, "p202612 p202701", ""},
			{"a gap", []Partition{{Name: "a", Min: 0, Max: at(11, 9)}, {Name: "b", Min: at(11, 10), Max: at(12, 1)}}, "reaches into a", "reaches into a"},
			{"half a month", []Partition{{Name: "a", Min: 0, Max: at(11, 9)}}, "reaches into a", "reaches into a"},
			{"all", []Partition{{Name: "pmax", Min: math.MinInt64, Max: math.MaxInt64}}, "", "p202611 p202612 p202701"},
			{"all of the layout's", []Partition{{Name: "pmax", Min: 0, Max: math.MaxInt64}}, "", "p202611 p202612 p202701"},
			{"half of a month closed", []Partition{{Name: "a", Min: 0, Max: at(11, 9)}, {Name: "pmax", Min: at(11, 9), Max: math.MaxInt64}}, "", "p202611 p202612 p202701"},
			{"a month closed", []Partition{{Name: "a", Min: 0, Max: at(12, 1)}, {Name: "pmax", Min: at(12, 1), Max: math.MaxInt64}}, "", "p202612 p202701"},
			{"an open end far away", []Partition{{Name: "a", Min: 0, Max: s.max - 5}, {Name: "pmax", Min: s.max - 5, Max: math.MaxInt64}}, "", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := Partitioning{Dialect: MySQL, Layout: layout, Table: "t", By: Month}
				l, err := p.lacking(c.have, from, from.AddDate(0, 2, 0))
				var names []string
				for _, m := range l.missing {
					names = append(names, m.Name)
				}
				if got := strings.Join(names, " "); err == nil && got != c.missing || err != nil && (c.missing == "" || !strings.Contains(err.Error(), c.missing)) {
					t.Errorf("%v, %s: missing %q, %v, want %q", layout, c.name, got, err, c.missing)
				}
				names = nil
				for i, m := range l.split {
					names = append(names, m.Name)
					if i == 0 && m.Min != l.open.Min || i > 0 && m.Min != l.split[i-1].Max {
						t.Errorf("%v, %s: %v", layout, c.name, l.split)
					}
				}
				if got := strings.Join(names, " "); err == nil && got != c.splits || err != nil && !strings.Contains(err.Error(), c.splits) {
					t.Errorf("%v, %s: splits %q, %v, want %q", layout, c.name, got, err, c.splits)
				}
			})
		}
	}
}

// PostgreSQL's table may have none for the time before an open end that begins within a
// period: the first partition has it as well.
func TestSplitBelowTheOpenEnd(t *testing.T) {
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	p := Partitioning{Dialect: Postgres, Schema: "s", Table: "t", By: Month}
	parts, err := p.Bounds(from, from.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	script, err := p.Extend([]Partition{{Name: "open", Schema: "x", Min: parts[0].Min + 7, Max: math.MaxInt64}}, from, from.Add(1))
	if want := fmt.Sprintf(`ALTER TABLE "s"."t" ATTACH PARTITION "x"."t_p202611" FOR VALUES FROM (%d) TO (%d)`, parts[0].Min, parts[0].Max); err != nil || !strings.Contains(script.String(), want) {
		t.Errorf("%v\n%s\nwant\n%s", err, script, want)
	}
}
