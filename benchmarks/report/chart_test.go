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
	if at8, at24 := strings.Index(string(pictures[1].SVG), "goroutines 8"), strings.Index(string(pictures[1].SVG), "goroutines 24"); at8 < 0 || at8 > at24 {
		t.Error("8 goroutines do not stand before 24")
	}
}

func TestMarkdown(t *testing.T) {
	p, all := parsed(t, text)
	out, err := Markdown(p, all, []string{"next.svg"})
	if err != nil {
		t.Fatal(err)
	}
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
		if got := number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
