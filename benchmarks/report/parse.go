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

// Name is a benchmark's name, taken apart.
type Name struct {
	Function string // without "Benchmark"
	Keys     []Key  // in their order; a part without "=" has no Name
}

// Get is the value of a key, or "".
func (n Name) Get(key string) string {
	for _, k := range n.Keys {
		if k.Name == key {
			return k.Value
		}
	}
	return ""
}

// Result is one line of output.
type Result struct {
	Name   Name
	Values map[string]float64 // by unit, as printed
}

// Parsed is what a text holds, in its order.
type Parsed struct {
	Head    []Key           // what stands before the first result, such as "cpu: …"
	Better  map[string]int8 // by unit: 1 if more is better, -1 if less is
	Results []Result
}

// Parse reads the output of go test -bench, of any number of runs. A result that
// cannot be read is an error that names its line; other lines are left out, as
// benchstat does.
func Parse(r io.Reader) (*Parsed, error) {
	p := &Parsed{Better: map[string]int8{}}
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
			res, err := result(rec)
			if err != nil {
				return nil, err
			}
			p.Results = append(p.Results, res)
		}
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	if len(p.Results) == 0 {
		return nil, errors.New("the benchmarks: there is no result in the text")
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

func result(rec *benchfmt.Result) (Result, error) {
	base, parts := rec.Name.Parts()
	res := Result{Name: Name{Function: string(base)}, Values: map[string]float64{}}
	procs := "1"
	for _, part := range parts {
		text := string(part)
		if number, ok := strings.CutPrefix(text, "-"); ok {
			if _, err := strconv.Atoi(number); err != nil {
				return Result{}, fmt.Errorf("%q: %q is no number of processors", rec.Name, text)
			}
			procs = number
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(text, "/"), "=")
		if !ok {
			name, value = "", name
		}
		res.Name.Keys = append(res.Name.Keys, Key{name, value})
	}
	if i := slices.IndexFunc(res.Name.Keys, func(k Key) bool { return k.Name == Procs }); i >= 0 {
		res.Name.Keys[i].Value = procs
	}
	for _, v := range rec.Values {
		if v.OrigUnit != "" {
			res.Values[v.OrigUnit] = v.OrigValue
		} else {
			res.Values[v.Unit] = v.Value
		}
	}
	return res, nil
}

// Procs is a key whose value is the number of processors that -cpu gave, which
// go test writes at the end of the name: "/procs=n/lib=xid-8".
const Procs = "procs"
