package cli

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/notation"
	"github.com/seed-299c1d6b/snowkey/core"
)

// idInfo is what is known of an id; its JSON.
type idInfo struct {
	ID         string            `json:"id"`
	Input      string            `json:"input"`
	From       notation.Notation `json:"from"`
	Time       string            `json:"time"`
	Local      string            `json:"local,omitempty"`
	UnixMS     int64             `json:"unix_ms"`
	Relative   string            `json:"relative"`
	Rollback   *int64            `json:"rollback,omitempty"`
	Datacenter *int64            `json:"datacenter,omitempty"`
	Worker     int64             `json:"worker"`
	Number     int64             `json:"worker_number"` // datacenter<<WorkerBits | worker
	Sequence   int64             `json:"sequence"`
	JSONParse  string            `json:"json_parse"` // what JavaScript makes of the number
	Safe       bool              `json:"javascript_safe"`
	Hex        string            `json:"hex"`
	Base32     string            `json:"base32,omitempty"`
	Base58     string            `json:"base58,omitempty"`
	Base62     string            `json:"base62,omitempty"`
	Bits       string            `json:"bits"`

	id int64
}

func describe(p *parse, text string, id int64, as notation.Notation, parts core.Parts, now time.Time) idInfo {
	l := p.l
	info := idInfo{
		ID: notation.Decimal.Text(id, l.Unsigned), Input: text, From: as,
		Time: parts.Time.Format(stamp), UnixMS: parts.Time.UnixMilli(), Relative: relative(parts.Time, now),
		Worker: parts.Worker, Number: parts.Datacenter<<l.WorkerBits | parts.Worker, Sequence: parts.Sequence,
		Hex: notation.Hex.Text(id, l.Unsigned), Bits: fmt.Sprintf("%064b", uint64(id)), id: id,
	}
	if p.zone != nil {
		info.Local = parts.Time.In(p.zone).Format(stamp)
	}
	if l.RollbackBits > 0 {
		info.Rollback = &parts.Rollback
	}
	if l.DatacenterBits > 0 {
		info.Datacenter = &parts.Datacenter
	}
	if id >= 0 {
		info.Base32, info.Base58, info.Base62 = notation.Base32.Text(id, false), notation.Base58.Text(id, false), notation.Base62.Text(id, false)
	}
	info.JSONParse, info.Safe = javascript(info.ID)
	return info
}

// safest is the largest integer below which JavaScript tells every number from the
// next: Number.MAX_SAFE_INTEGER.
const safest = 1<<53 - 1

// javascript is what JSON.parse makes of a number, and whether that is sure to be
// the number.
func javascript(decimal string) (text string, safe bool) {
	f, _ := strconv.ParseFloat(decimal, 64)
	return strconv.FormatFloat(f, 'f', -1, 64), f <= safest && f >= -safest
}

// show prints an id for people.
func (a *app) show(p *parse, info idInfo) {
	s := a.style
	label := func(name, text string) {
		if text != "" {
			fmt.Fprintf(a.out, "  %s %s\n", s.faint(fmt.Sprintf("%-10s", name)), text)
		}
	}
	fmt.Fprintln(a.out, s.bold(info.ID))
	label("time", fmt.Sprintf("%s  %s", info.Time, s.faint(info.Relative)))
	label("local", info.Local)
	if info.Rollback != nil {
		label("roll-back", strconv.FormatInt(*info.Rollback, 10))
	}
	worker := strconv.FormatInt(info.Worker, 10)
	if info.Datacenter != nil {
		label("datacenter", strconv.FormatInt(*info.Datacenter, 10))
		worker += s.faint(fmt.Sprintf("  number %d with the datacenter", info.Number))
	}
	if p.l.WorkerBits+p.l.DatacenterBits > 0 {
		label("worker", worker)
	}
	label("sequence", strconv.FormatInt(info.Sequence, 10))
	label("hex", info.Hex)
	label("base 58", info.Base58)
	label("base 62", info.Base62)
	label("base 32", info.Base32)
	label("JavaScript", a.javascriptNote(info))
	if explained, err := p.l.Explain(info.id); err == nil {
		fmt.Fprintln(a.out)
		for line := range strings.Lines(explained) {
			fmt.Fprint(a.out, "  ", line)
		}
	}
}

func (a *app) javascriptNote(info idInfo) string {
	if info.Safe {
		return "exact as a number"
	}
	id, ok := new(big.Int).SetString(info.ID, 10)
	number, ok2 := new(big.Int).SetString(info.JSONParse, 10)
	if !ok || !ok2 {
		return ""
	}
	if off := number.Sub(number, id); off.Sign() != 0 {
		return a.style.warn(fmt.Sprintf("JSON.parse makes it %s, off by %+d: send it as a string", info.JSONParse, off))
	}
	return a.style.warn("exact by chance, most like it are not: send it as a string")
}

func (a *app) showBrief(info idInfo) {
	when := info.Time
	if info.Local != "" {
		when = info.Local
	}
	fmt.Fprintf(a.out, "%s\t%s\t%d\t%d\n", info.ID, when, info.Number, info.Sequence)
}
