// Package describe reads and writes ids, and defines the JSON that the command and the HTTP API
// share: for an id, a layout, and the ids of a time range.
//
//	id, format, err := describe.Parse("0x1bb54121fb2b914d", describe.Auto, layout.Unsigned)
//	text := describe.Format("ord_").Text(id, false) // with a prefix: ord_1qda147xjq4ad
//	described, err := describe.New(layout, id, text, format, describe.View{Now: time.Now()})
//
// If a text has two readings, Parse picks none, and returns an *AmbiguousError. The page's idtext.js
// does the same; ../testdata/vectors.json tests both.
//
// Ids, ticks and numbers that can far exceed 2^53 are strings, because JavaScript would round them; the
// fields of an id are numbers.
package describe

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// An ID describes an id: as text in several formats and, if it was parsed, with its fields.
type ID struct {
	Texts
	*Fields
}

// Texts has an id in several formats.
type Texts struct {
	ID       string `json:"id"`                 // decimal, as a signed column of 64 bits holds it
	Unsigned string `json:"unsigned,omitempty"` // the same bits as an unsigned number, if id is negative
	Hex      string `json:"hex,omitempty"`
	Base32   string `json:"base32,omitempty"` // empty for a negative id, like Base58 and Base62
	Base58   string `json:"base58,omitempty"`
	Base62   string `json:"base62,omitempty"`
	Prefixed string `json:"prefixed,omitempty"` // with the prefix, in base32, if there is a prefix
}

// Fields has the fields of an id in its layout.
type Fields struct {
	Input      string            `json:"input"`
	Format     Format            `json:"format"`           // of the input
	Prefix     string            `json:"prefix,omitempty"` // of the input
	Preset     string            `json:"preset,omitempty"` // the preset that is assumed
	Others     map[string]string `json:"others,omitempty"` // the id's times under the other possible presets
	Time       string            `json:"time"`
	Possible   bool              `json:"possible"`            // whether an id can have this time; see Possible
	ZoneTime   string            `json:"zone_time,omitempty"` // in the zone that was asked for
	UnixMS     json.Number       `json:"unix_ms"`             // beyond int64 in long layouts
	Relative   string            `json:"relative"`            // to now
	Tick       string            `json:"tick"`
	Rollback   int64             `json:"rollback"`
	WorkerID   int64             `json:"worker_id"`  // the leased number: both parts as one number
	Datacenter int64             `json:"datacenter"` // its upper part
	Machine    int64             `json:"machine"`    // its lower part
	Sequence   int64             `json:"sequence"`
	JavaScript JavaScript        `json:"javascript"`
	Rounded    *Rounded          `json:"rounded,omitempty"` // if the input may have been rounded
	Bits       string            `json:"bits"`
}

// A View says how to describe an id, in addition to its layout.
type View struct {
	Now     time.Time
	Zone    *time.Location // nil: UTC only
	Presets []core.Preset  // the result of Recognize, if the layout is the first of them
	Workers []int64        // worker IDs in use; candidates for a rounded id that have one of them come first
}

// JavaScript says what JSON.parse makes of an id that is written as a number.
type JavaScript struct {
	Safe  bool   `json:"safe"`  // up to 2^53-1: no other id is read as the same number
	Exact bool   `json:"exact"` // the number equals the id, by chance if it is not safe
	Value string `json:"value"` // how JavaScript writes the number
}

// Text describes an id in decimal and in further formats.
func Text(id int64, formats ...Format) Texts {
	d := Texts{ID: Decimal.Text(id, false)}
	if id < 0 {
		d.Unsigned = Decimal.Text(id, true)
	}
	texts := map[Format]*string{Hex: &d.Hex, Base32: &d.Base32, Base58: &d.Base58, Base62: &d.Base62}
	for _, f := range formats {
		to := texts[f]
		if f.Prefix() != "" {
			to = &d.Prefixed
		}
		if to != nil && (id >= 0 || !f.Signed()) {
			*to = f.Text(id, true)
		}
	}
	return d
}

// New describes an id that was read from an input in a format.
func New(l core.Layout, id int64, input string, format Format, v View) (ID, error) {
	p, err := l.Decode(id)
	if err != nil {
		return ID{}, Outside(err)
	}
	unixMS := big.NewInt(p.Time.Unix()) // Time.UnixMilli overflows after 292 million years
	unixMS.Add(unixMS.Mul(unixMS, big.NewInt(1000)), big.NewInt(int64(p.Time.Nanosecond())/1e6))
	d := ID{Texts: Text(id, append(Formats(), format)...)}
	d.Fields = &Fields{
		Input: input, Format: format, Prefix: format.Prefix(), Others: map[string]string{},
		Time: timetext.Format(p.Time), Possible: Possible(l, p.Time, v.Now),
		UnixMS: json.Number(unixMS.String()), Relative: timetext.Relative(p.Time, v.Now),
		Tick: strconv.FormatUint(uint64(id)>>lowBits(l), 10), Rollback: p.Rollback,
		WorkerID: p.Datacenter<<l.WorkerBits | p.Worker, Datacenter: p.Datacenter, Machine: p.Worker, Sequence: p.Sequence,
		JavaScript: NewJavaScript(d.ID), Bits: fmt.Sprintf("%064b", uint64(id)),
	}
	for i, preset := range v.Presets {
		if p, err := preset.Layout.Decode(id); i == 0 {
			d.Preset = preset.Name
		} else if err == nil {
			d.Others[preset.Name] = timetext.Format(p.Time)
		}
	}
	if v.Zone != nil {
		d.ZoneTime = p.Time.In(v.Zone).Format(timetext.Stamp)
	}
	if format == Decimal {
		d.Rounded = NewRounded(l, id, v.Workers)
	}
	return d, nil
}

// Possible reports whether an id of the layout can have the time: not in the layout's first half day, where
// small numbers are, nor before 2000, nor more than a day in the future.
func Possible(l core.Layout, t, now time.Time) bool {
	return t.Sub(l.Epoch) >= 12*time.Hour && t.Unix() >= year2000 && t.Sub(now) <= 24*time.Hour
}

const (
	year2000 = 946_684_800
	newborn  = 60 * 24 * time.Hour
)

// Recognize returns the presets that the ids in texts may have; assume the first one. It returns the presets
// under which most ids have a possible time: first those under which the times are also after the first 60
// days, which have few ids, then the others. Both groups are in the order of flagval.Presets, which begins
// with the default. The default comes first if no preset is possible, or if a text has a prefix. Another
// preset under which all ids have the times of the default, many-workers, is not returned. The page's
// recognize.js does the same.
func Recognize(texts []string, format Format, now time.Time) []core.Preset {
	all := slices.DeleteFunc(flagval.Presets(), func(p core.Preset) bool { return p.Name == "many-workers" })
	prefixed := false
	var ids []int64
	for _, text := range texts {
		if id, found, err := Parse(text, format, false); err == nil {
			ids, prefixed = append(ids, id), prefixed || found.Prefix() != ""
		}
	}
	counts, settled := make([]int, len(all)), make([]int, len(all))
	for i, p := range all {
		low, longest := lowBits(p.Layout), math.MaxInt64/int64(p.Layout.Tick) // 292 years
		for _, id := range ids {                                              // without Decode, which is slower
			since := time.Duration(id>>low) * p.Layout.Tick
			if id>>low>>p.Layout.TimeBits == 0 && id>>low <= longest && Possible(p.Layout, p.Layout.Epoch.Add(since), now) {
				counts[i]++
				if since >= newborn {
					settled[i]++
				}
			}
		}
	}
	var found []core.Preset
	if prefixed || slices.Max(counts) == 0 {
		found = all[:1:1]
	}
	for _, count := range [][]int{settled, counts} {
		most := max(slices.Max(count), 1)
		for i, p := range all {
			if count[i] == most && !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
	}
	return found
}

// Outside explains why an id does not belong to the layout, without core's field names.
func Outside(err error) error {
	var outside *core.RangeError
	if errors.As(err, &outside) {
		return errors.New("is not an id of this layout: " + outside.Limit)
	}
	return err
}

// lowBits returns the number of bits below the time.
func lowBits(l core.Layout) int {
	return int(l.RollbackBits) + int(l.DatacenterBits) + int(l.WorkerBits) + int(l.SequenceBits)
}

// NewJavaScript describes an id that is written in decimal.
func NewJavaScript(decimal string) JavaScript {
	number, _ := strconv.ParseFloat(decimal, 64)
	return JavaScript{
		Safe:  math.Abs(number) <= 1<<53-1,
		Exact: strconv.FormatFloat(number, 'f', 0, 64) == decimal, // all of its digits
		Value: strconv.FormatFloat(number, 'f', -1, 64),
	}
}

// A Range describes the ids of a time range, for WHERE.
type Range struct {
	From   string `json:"from"`
	To     string `json:"to,omitempty"`
	Min    string `json:"min"`              // the smallest id of the range
	Before string `json:"before,omitempty"` // the smallest id after it, so BETWEEN would count one too many
	Where  string `json:"where,omitempty"`
}

// NewRange describes the ids of [low, high), with the condition if a column is given.
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
	for _, p := range flagval.Presets() {
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
	for _, p := range flagval.Presets() {
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

// unsafeFrom returns the start of the first tick whose largest id exceeds 2^53-1.
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

// WorkerID returns the worker ID of a datacenter and a worker within it. If datacenter is -1, worker is
// the whole worker ID. An error is a *core.ConfigError.
func WorkerID(l core.Layout, datacenter, worker int64) (int64, error) {
	workers, reason := int64(1)<<min(l.WorkerBits, 62), fmt.Sprintf("the layout has %d bits for it", l.WorkerBits)
	if datacenter < 0 {
		datacenter, workers, reason = 0, l.WorkerIDs(), fmt.Sprintf("the layout has %d worker IDs", l.WorkerIDs())
	}
	if err := atMost("Worker", worker, workers-1, reason); err != nil {
		return 0, err
	}
	err := atMost("Datacenter", datacenter, int64(1)<<min(l.DatacenterBits, 62)-1, fmt.Sprintf("the layout has %d bits for it", l.DatacenterBits))
	return datacenter<<l.WorkerBits | worker, err
}

// CheckTick returns a *core.ConfigError unless a tick has n ids from a sequence number on.
func CheckTick(l core.Layout, sequence, n int64) error {
	perTick := l.IDsPerTick()
	if err := atMost("Sequence", sequence, perTick-1, fmt.Sprintf("the layout has %d bits for it", l.SequenceBits)); err != nil {
		return err
	}
	return atMost("Count", n, perTick-sequence, fmt.Sprintf("a tick has the sequences 0 to %d, and these start at %d", perTick-1, sequence))
}

// atMost checks a field.
func atMost(field string, value, limit int64, reason string) error {
	if value <= limit {
		return nil
	}
	return &core.ConfigError{Fields: []core.FieldError{{Field: field, Value: strconv.FormatInt(value, 10), Reason: fmt.Sprintf("must be at most %d: %s", limit, reason)}}}
}

// Compose fills ids with the ids of one tick of a worker ID, from a sequence number on. Use them only as
// bounds or test data: a generator may issue the same ids.
func Compose(l core.Layout, worker int64, at time.Time, sequence int64, ids []int64) error {
	parts := core.Parts{Time: at, Datacenter: worker >> l.WorkerBits, Worker: worker & (int64(1)<<l.WorkerBits - 1)}
	for i := range ids {
		parts.Sequence = sequence + int64(i)
		id, err := l.Compose(parts)
		if err != nil {
			return err
		}
		ids[i] = id
	}
	return nil
}
