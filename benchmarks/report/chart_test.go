package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

const charted = `
BenchmarkNext/mode=uncapped/goroutines=1/lib=snowkey-2 100 40.0 ns/id
BenchmarkNext/mode=uncapped/goroutines=1/lib=b&c<d>-2  100 80.0 ns/id
BenchmarkNext/mode=uncapped/goroutines=1/lib=floor-clock-2  100 60.0 ns/id
BenchmarkNext/mode=uncapped/goroutines=24/lib=snowkey-2 100 50.0 ns/id
BenchmarkNext/mode=uncapped/goroutines=8/lib=snowkey-2 100 50.0 ns/id
`

// A picture is well-formed, has a title, says its figures in words, follows the
// page's colours, and is the same each time.
func TestCharts(t *testing.T) {
	_, all := parsed(t, charted)
	pictures, err := Charts(all)
	if err != nil || len(pictures) != 2 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	again, err := Charts(all)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pictures {
		if !bytes.Equal(p.SVG, again[i].SVG) {
			t.Errorf("%s is another the second time", p.File)
		}
		for _, want := range []string{"<title id=", "<desc id=", "prefers-color-scheme: dark", `aria-labelledby="title about"`, "b&amp;c&lt;d&gt; 80.0", "snowkey 40.0"} {
			if !strings.Contains(string(p.SVG), want) {
				t.Errorf("%s has no %q", p.File, want)
			}
		}
		for d := xml.NewDecoder(bytes.NewReader(p.SVG)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p.File, err)
			}
		}
	}
	if at8, at24 := strings.Index(string(pictures[1].SVG), "8 goroutines"), strings.Index(string(pictures[1].SVG), "24 goroutines"); at8 < 0 || at8 > at24 {
		t.Error("8 goroutines are not before 24")
	}
}

// Which way is better, and of what a group is, must not be guessed.
func TestChartWords(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"goroutines", "1", "1 goroutine"}, {"goroutines", "24", "24 goroutines"}, {"rows", "1000000", "1,000,000 rows"},
		{"db", "mariadb", "mariadb"}, {"delay", "1ms", "delay 1ms"},
	} {
		if got := heading(c.key, c.value); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.key, c.value, got, c.want)
		}
	}
	_, all := parsed(t, charted+`
BenchmarkGrowth/db=postgres/rows=1000000/lib=snowkey-2 1 9 rows/s
BenchmarkGrowth/db=postgres/rows=10000/lib=snowkey-2 1 9 rows/s
`)
	pictures, err := Charts(all)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range pictures {
		svg := string(p.SVG)
		switch p.File {
		case "next.svg":
			n++
			if !strings.Contains(svg, ", less is better</title>") {
				t.Error("next does not say that less is better")
			}
			if strings.Count(svg, `<path class="line"`) != 1 || !strings.Contains(svg, ">floor-clock ") {
				t.Errorf("next has no line for the clock:\n%s", svg)
			}
		case "growth-postgres.svg":
			n++
			if few, many := strings.Index(svg, ">10,000 rows<"), strings.Index(svg, ">1,000,000 rows<"); !strings.Contains(svg, ", more is better</title>") || few < 0 || many < few {
				t.Errorf("growth: %s", svg)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d of 2 charts in %d", n, len(pictures))
	}
}

func TestMarkdown(t *testing.T) {
	p, _ := parsed(t, text)
	out := Markdown(p, []string{"next.svg"})
	for _, want := range []string{
		"| machine | two cores |", "## Where we lose", "| Pick | mode=free | other | 30.5 ns/op | 41.0 | 1.34 | few runs |",
		"![next](next.svg)", "| floor-add | 3.00 (0.07×) |", "| snowflake | **1,000** |", "| uuid4 | 900 (0.90×) |", "| procs=8 | **7.00** |",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.001234: "0.0012", 1.005: "1.00", 12.34: "12.3", 999.4: "999", 1234567: "1,234,567", -2: "-2.00", 1e20: "1e+20",
	} {
		t.Run(want, func(t *testing.T) {
			if got := number(v); got != want {
				t.Errorf("%v: %q, want %q", v, got, want)
			}
		})
	}
}
