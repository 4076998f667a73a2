package describe

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

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
