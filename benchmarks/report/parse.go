package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Key is one part of a benchmark's name, or one line of the text's head.
type Key struct{ Name, Value string }

// Parsed is what a text holds, in its order.
type Parsed struct {
	Head   []Key           // the configuration before the first result, such as "cpu: …"
	Better map[string]int8 // by unit: 1 if more is better, -1 if less is
	Series []*Series
}

// Parse reads the output of go test -bench, of any number of runs, and joins the runs of each
// benchmark and unit. A result that cannot be read is an error that names its line; other
// lines are ignored, as benchstat does.
func Parse(r io.Reader) (*Parsed, error) {
	p := &Parsed{Better: map[string]int8{}}
	index := map[string]*Series{}
	reader := benchfmt.NewReader(r, "the benchmarks")
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.UnitMetadata:
			if rec.Key == "better" {
				p.Better[rec.OrigUnit] = map[string]int8{"higher": 1, "lower": -1}[rec.Value]
			}
		case *benchfmt.Result:
			if p.Head == nil {
				p.Head = head(rec)
			}
			if err := p.add(rec, index); err != nil {
				return nil, err
			}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	if len(p.Series) == 0 {
		return nil, errors.New("the benchmarks: there is no result in the text")
	}
	for _, s := range p.Series {
		s.sum()
	}
	return p, nil
}

func head(rec *benchfmt.Result) []Key {
	h := []Key{}
	for _, c := range rec.Config {
		if c.File && c.Key != "pkg" { // that differs from result to result
			h = append(h, Key{c.Key, string(c.Value)})
		}
	}
	return h
}

// pivots are the keys of what is compared.
var pivots = []string{"lib", "key", "way"}

// Procs is a key whose value is the number of processors that -cpu gave, which
// go test writes at the end of the name: "/procs=n/lib=xid-8".
const Procs = "procs"

// add adds the values of one result to its series. A part of its name without "=" is a key
// without a name.
func (p *Parsed) add(rec *benchfmt.Result, index map[string]*Series) error {
	base, parts := rec.Name.Parts()
	name := Series{Function: string(base)}
	procs := "1"
	for _, part := range parts {
		text := string(part)
		if number, ok := strings.CutPrefix(text, "-"); ok {
			if _, err := strconv.Atoi(number); err != nil {
				return fmt.Errorf("%q: %q is not a number of processors", rec.Name, text)
			}
			procs = number
			continue
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(text, "/"), "=")
		if !ok {
			key, value = "", key
		}
		if slices.Contains(pivots, key) {
			name.Pivot = value
			continue
		}
		name.Keys = append(name.Keys, Key{key, value})
	}
	var condition []string
	for i, k := range name.Keys {
		if k.Name == Procs {
			k.Value = procs
			name.Keys[i] = k
		}
		condition = append(condition, strings.TrimPrefix(k.Name+"="+k.Value, "="))
	}
	name.Condition = strings.Join(condition, " ")
	for _, v := range rec.Values {
		value := v.Value
		if name.Unit = v.Unit; v.OrigUnit != "" {
			name.Unit, value = v.OrigUnit, v.OrigValue
		}
		id := name.group() + "\x00" + name.Pivot
		s := index[id]
		if s == nil {
			s = &Series{Function: name.Function, Condition: name.Condition, Keys: name.Keys, Pivot: name.Pivot, Unit: name.Unit}
			index[id] = s
			p.Series = append(p.Series, s)
		}
		s.Runs = append(s.Runs, value)
	}
	return nil
}
