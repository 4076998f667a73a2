// Package describe holds the JSON that the command and the HTTP API share: that of an
// ID, of a layout, and of the IDs of a time range.
//
//	r, err := describe.Read(layout, "0x1bb54121fb2b914d", idtext.Auto)
//	id := r.Describe(time.Now(), nil)
//
// IDs, ticks and what can exceed 2^53 by far are strings, because JavaScript rounds
// numbers there; the fields of an ID are numbers.
package describe

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// An ID is an ID as text and, if it was parsed, its fields.
type ID struct {
	Texts
	*Fields
}

// Texts is an ID in several formats.
type Texts struct {
	ID       string `json:"id"`                 // decimal, as a signed column of 64 bits holds it
	Unsigned string `json:"unsigned,omitempty"` // the same bits as an unsigned number, if ID is negative
	Hex      string `json:"hex,omitempty"`
	Base32   string `json:"base32,omitempty"` // not of a negative ID, like Base58 and Base62
	Base58   string `json:"base58,omitempty"`
	Base62   string `json:"base62,omitempty"`
	Prefixed string `json:"prefixed,omitempty"` // if there is a prefix: with it, in base32
}

// Fields is what an ID holds in its layout.
type Fields struct {
	Input      string        `json:"input"`
	Format     idtext.Format `json:"format"`           // of the input
	Prefix     string        `json:"prefix,omitempty"` // of the input
	Time       string        `json:"time"`
	Local      string        `json:"local,omitempty"` // in the zone that was asked for
	UnixMS     json.Number   `json:"unix_ms"`         // beyond int64 in long layouts
	Relative   string        `json:"relative"`        // to now
	Tick       string        `json:"tick"`
	Rollback   int64         `json:"rollback"`
	Datacenter int64         `json:"datacenter"`
	Worker     int64         `json:"worker"`
	WorkerID   int64         `json:"worker_id"` // datacenter<<worker_bits | worker
	Sequence   int64         `json:"sequence"`
	JavaScript JavaScript    `json:"javascript"`
	Bits       string        `json:"bits"`
}

// JavaScript is what JSON.parse makes of an ID that is written as a number.
type JavaScript struct {
	Safe  bool   `json:"safe"`  // up to 2^53-1: no other ID is read as the same number
	Exact bool   `json:"exact"` // the number equals the ID, by chance if it is not safe
	Value string `json:"value"` // how JavaScript writes the number
}

// Text describes an ID in decimal and in further formats.
func Text(id int64, formats ...idtext.Format) Texts {
	d := Texts{ID: idtext.Decimal.Text(id, false)}
	if id < 0 {
		d.Unsigned = idtext.Decimal.Text(id, true)
	}
	for _, f := range formats {
		if id < 0 && f.Signed() {
			continue
		}
		switch f {
		case idtext.Hex:
			d.Hex = f.Text(id, true)
		case idtext.Base32:
			d.Base32 = f.Text(id, true)
		case idtext.Base58:
			d.Base58 = f.Text(id, true)
		case idtext.Base62:
			d.Base62 = f.Text(id, true)
		default:
			if f.Prefix() != "" {
				d.Prefixed = f.Text(id, true)
			}
		}
	}
	return d
}

// A Reading is an ID that was read and decoded, which costs little. Describe adds the rest.
type Reading struct {
	core.Parts
	ID       int64
	WorkerID int64

	text   string
	format idtext.Format
	tick   uint64
}

// Read reads and decodes an ID.
func Read(l core.Layout, text string, format idtext.Format) (Reading, error) {
	id, format, err := idtext.Parse(text, format, l.Unsigned)
	if err != nil {
		return Reading{}, err
	}
	parts, err := l.Decode(id)
	if err != nil {
		return Reading{}, Outside(err)
	}
	return Reading{parts, id, parts.Datacenter<<l.WorkerBits | parts.Worker, text, format, uint64(id) >> lowBits(l)}, nil
}

// Describe describes the ID. zone may be nil.
func (r *Reading) Describe(now time.Time, zone *time.Location) ID {
	d := ID{Texts: Text(r.ID, append(idtext.Formats(), r.format)...)}
	d.Fields = &Fields{
		Input: r.text, Format: r.format, Prefix: r.format.Prefix(), Time: timetext.Format(r.Time), UnixMS: unixMS(r.Time), Relative: timetext.Relative(r.Time, now),
		Tick: strconv.FormatUint(r.tick, 10), Rollback: r.Rollback, Datacenter: r.Datacenter, Worker: r.Worker,
		WorkerID: r.WorkerID, Sequence: r.Sequence, JavaScript: NewJavaScript(d.ID), Bits: bits(r.ID),
	}
	if zone != nil {
		d.Local = r.Time.In(zone).Format(timetext.Stamp)
	}
	return d
}

// bits writes all 64 bits.
func bits(id int64) string {
	var b [64]byte
	for i := range b {
		b[i] = '0' + byte(uint64(id)>>(63-i)&1)
	}
	return string(b[:])
}

// unixMS is time.Time.UnixMilli, which overflows after 292 million years.
func unixMS(t time.Time) json.Number {
	if s := t.Unix(); s > math.MinInt64/1000 && s < math.MaxInt64/1000 {
		return json.Number(strconv.FormatInt(t.UnixMilli(), 10))
	}
	ms := big.NewInt(t.Unix())
	return json.Number(ms.Mul(ms, big.NewInt(1000)).Add(ms, big.NewInt(int64(t.Nanosecond())/1e6)).String())
}

// Outside explains why an ID does not belong to the layout, without core's field names.
func Outside(err error) error {
	var outside *core.RangeError
	if errors.As(err, &outside) {
		return errors.New("is not an ID of this layout: " + outside.Limit)
	}
	return err
}

// lowBits is the number of bits below the time.
func lowBits(l core.Layout) int {
	return int(l.RollbackBits) + int(l.DatacenterBits) + int(l.WorkerBits) + int(l.SequenceBits)
}

// NewJavaScript describes an ID that is written in decimal.
func NewJavaScript(decimal string) JavaScript {
	number, _ := strconv.ParseFloat(decimal, 64)
	return JavaScript{
		Safe:  math.Abs(number) <= 1<<53-1,
		Exact: strconv.FormatFloat(number, 'f', 0, 64) == decimal, // all of its digits
		Value: strconv.FormatFloat(number, 'f', -1, 64),
	}
}

// A Range is the IDs of a time range, for WHERE.
type Range struct {
	From   string `json:"from"`
	To     string `json:"to,omitempty"`
	Min    string `json:"min"`              // the smallest ID of the range
	Before string `json:"before,omitempty"` // the smallest ID after it, so BETWEEN would count one too many
	Where  string `json:"where,omitempty"`
}

// NewRange describes the IDs of [low, high), with the condition if a column is given.
func NewRange(from, to string, low, high int64, column string) Range {
	r := Range{From: from, To: to, Min: strconv.FormatInt(low, 10), Before: strconv.FormatInt(high, 10)}
	if column != "" {
		r.Where = fmt.Sprintf("%s >= %d AND %s < %d", column, low, column, high)
	}
	return r
}

// A Layout is a layout with its figures.
type Layout struct {
	Preset         string  `json:"preset,omitempty"`
	Description    string  `json:"description,omitempty"`
	Epoch          string  `json:"epoch"`
	EpochMS        int64   `json:"epoch_ms"`
	TickMS         int64   `json:"tick_ms"`
	TimeBits       uint8   `json:"time_bits"`
	RollbackBits   uint8   `json:"rollback_bits"`
	DatacenterBits uint8   `json:"datacenter_bits"`
	WorkerBits     uint8   `json:"worker_bits"`
	SequenceBits   uint8   `json:"sequence_bits"`
	SequenceFirst  bool    `json:"sequence_first"`
	Unsigned       bool    `json:"unsigned"`
	Bits           int     `json:"bits"`
	WorkerIDs      string  `json:"worker_ids"`
	PerTick        string  `json:"ids_per_tick"`
	PerSecond      string  `json:"ids_per_second"`     // of one worker, truncated to six decimals
	AllPerSecond   string  `json:"all_ids_per_second"` // of all workers
	End            string  `json:"end"`
	Expired        bool    `json:"expired"`
	UnsafeFrom     *string `json:"javascript_unsafe_from"` // nil: never, or after the end
	Diagram        string  `json:"diagram"`
}

// Layouts describes all presets.
func Layouts(now time.Time) []Layout {
	var all []Layout
	for _, p := range core.Presets() {
		all = append(all, NewLayout(p.Layout.WithDefaults(), now))
	}
	return all
}

// NewLayout describes a layout, as a preset if it is one.
func NewLayout(l core.Layout, now time.Time) Layout {
	d := Layout{
		Epoch: timetext.Format(l.Epoch), EpochMS: l.Epoch.UnixMilli(), TickMS: l.Tick.Milliseconds(),
		TimeBits: l.TimeBits, RollbackBits: l.RollbackBits, DatacenterBits: l.DatacenterBits, WorkerBits: l.WorkerBits, SequenceBits: l.SequenceBits,
		SequenceFirst: l.SequenceFirst, Unsigned: l.Unsigned,
		Bits: lowBits(l) + int(l.TimeBits), WorkerIDs: strconv.FormatInt(l.WorkerIDs(), 10), PerTick: strconv.FormatInt(l.IDsPerTick(), 10),
		End: timetext.Format(l.End()), Expired: !now.Before(l.End()), Diagram: l.Diagram(),
	}
	for _, p := range core.Presets() {
		if p.Layout.WithDefaults() == l.WithDefaults() {
			d.Preset, d.Description = p.Name, p.Description
			break
		}
	}
	perTick := big.NewInt(l.IDsPerTick())
	d.PerSecond = perSecond(perTick, l.Tick)
	d.AllPerSecond = perSecond(perTick.Mul(perTick, big.NewInt(l.WorkerIDs())), l.Tick)
	if d.Bits > 53 {
		text := timetext.Format(unsafeFrom(l))
		d.UnsafeFrom = &text
	}
	return d
}

// unsafeFrom is the first tick whose largest ID exceeds 2^53-1.
func unsafeFrom(l core.Layout) time.Time {
	switch low := lowBits(l); {
	case low > 53:
		return l.Epoch
	case low == 53:
		return l.Epoch.Add(l.Tick)
	default:
		return core.Layout{Epoch: l.Epoch, Tick: l.Tick, TimeBits: uint8(53 - low)}.End()
	}
}

// perSecond converts a number per tick, truncated to six decimals.
func perSecond(perTick *big.Int, tick time.Duration) string {
	n := new(big.Int).Mul(perTick, big.NewInt(1_000_000_000))
	n.Quo(n, big.NewInt(tick.Milliseconds()))
	whole, part := n.QuoRem(n, big.NewInt(1_000_000), new(big.Int))
	if part.Sign() == 0 {
		return whole.String()
	}
	return whole.String() + "." + strings.TrimRight(strconv.FormatInt(1_000_000+part.Int64(), 10)[1:], "0")
}
