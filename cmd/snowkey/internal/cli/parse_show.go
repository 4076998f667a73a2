package cli

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// label prints a name and a value on a line.
func (a *app) label(name, text string) {
	if text != "" {
		fmt.Fprintf(a.out, "  %s %s\n", a.style.faint(fmt.Sprintf("%-10s", name)), text)
	}
}

// show prints an ID for people.
func (a *app) show(l core.Layout, id int64, d describe.ID) {
	s := a.style
	fmt.Fprintln(a.out, s.bold(idtext.Decimal.Text(id, l.Unsigned)))
	a.label("time", fmt.Sprintf("%s  %s", d.Time, s.faint(d.Relative)))
	a.label("local", d.Local)
	if l.RollbackBits > 0 {
		a.label("rollback", strconv.FormatInt(d.Rollback, 10))
	}
	worker := strconv.FormatInt(d.Worker, 10)
	if l.DatacenterBits > 0 {
		a.label("datacenter", strconv.FormatInt(d.Datacenter, 10))
		worker += s.faint(fmt.Sprintf("  worker ID %d with the datacenter", d.WorkerID))
	}
	if l.WorkerBits+l.DatacenterBits > 0 {
		a.label("worker", worker)
	}
	a.label("sequence", strconv.FormatInt(d.Sequence, 10))
	a.label("hex", d.Hex)
	a.label("base58", d.Base58)
	a.label("base62", d.Base62)
	a.label("base32", d.Base32)
	a.label("JavaScript", a.javascriptNote(id, d.JavaScript))
	if explained, err := l.Explain(id); err == nil {
		fmt.Fprintln(a.out)
		for line := range strings.Lines(explained) {
			fmt.Fprint(a.out, "  ", line)
		}
	}
}

func (a *app) javascriptNote(id int64, js describe.JavaScript) string {
	if js.Safe {
		return "exact as a number"
	}
	number, _ := new(big.Int).SetString(js.Value, 10)
	if off := number.Sub(number, big.NewInt(id)); off.Sign() != 0 {
		return a.style.warn(fmt.Sprintf("JSON.parse turns it into %s, off by %+d: send it as a string", js.Value, off))
	}
	return a.style.warn("exact by chance, most IDs near it are not: send it as a string")
}
