package web

import (
	"errors"
	"math/big"
	"net/http"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// apiNames has the names that the API has for core's fields.
var apiNames = strings.NewReplacer("Layout.", "", "TimeBits", "time_bits", "RollbackBits", "rollback_bits", "DatacenterBits", "datacenter_bits",
	"WorkerBits", "worker_bits", "SequenceBits", "sequence_bits", "Epoch", "epoch", "Tick", "tick",
	"Worker", "worker", "Datacenter", "datacenter", "Sequence", "sequence", "Rollback", "rollback", "Time", "time")

// layout reads a layout: a preset, some of whose fields may be given anew, or one of
// one's own, whose missing fields are core's. Without any parameter it is Twitter's.
func (p *params) layout() (l core.Layout, given bool) {
	before := len(p.faults)
	if name, ok := p.text("preset"); ok {
		given = true
		var names []string
		found := false
		for _, preset := range core.Presets() {
			names = append(names, preset.Name)
			if preset.Name == name {
				l, found = preset.Layout, true
			}
		}
		if !found {
			p.fault("preset", name, "must be one of "+strings.Join(names, ", "))
		}
	}
	if t, ok := p.time("epoch"); ok {
		given = true
		l.Epoch = t
		if t.IsZero() { // core would take it for none
			p.fault("epoch", formatTime(t), "must be later than the beginning of the year 1")
		}
	}
	if text, ok := p.text("tick"); ok {
		given = true
		tick, err := time.ParseDuration(text)
		if err != nil || tick <= 0 { // 0 would be core's default
			p.fault("tick", text, "must be a duration above 0, such as 1ms, 10ms or 1s")
		}
		l.Tick = tick
	}
	widths := false
	for _, f := range []struct {
		name string
		bits *uint8
	}{
		{"time_bits", &l.TimeBits}, {"rollback_bits", &l.RollbackBits}, {"datacenter_bits", &l.DatacenterBits},
		{"worker_bits", &l.WorkerBits}, {"sequence_bits", &l.SequenceBits},
	} {
		if n, ok := p.number(f.name, 0, 64); ok {
			*f.bits, widths = uint8(n), true
		}
		given = given || p.values.Has(f.name)
	}
	if widths && l.TimeBits|l.RollbackBits|l.DatacenterBits|l.WorkerBits|l.SequenceBits == 0 { // core would take them for Twitter's
		p.fault("time_bits", "0", "must be at least 1")
	}
	if v, ok := p.flag("sequence_first"); ok {
		l.SequenceFirst, given = v, true
	}
	if v, ok := p.flag("unsigned"); ok {
		l.Unsigned, given = v, true
	}
	if len(p.faults) == before {
		var config *core.ConfigError
		if errors.As(l.Validate(), &config) {
			for _, f := range config.Fields {
				p.fault(apiNames.Replace(f.Field), f.Value, f.Reason)
			}
		}
	}
	return l.WithDefaults(), given
}

// outside makes a refusal of what core says about a value that does not fit a layout.
func outside(err error, field func(string) string) error {
	var ranged *core.RangeError
	if !errors.As(err, &ranged) {
		return err
	}
	return refuse(http.StatusBadRequest, field(ranged.Field), ranged.Value, ranged.Limit)
}

// layoutBody is a layout as the API writes it, with what follows from it.
type layoutBody struct {
	Preset         string  `json:"preset,omitempty"`
	About          string  `json:"about,omitempty"`
	Epoch          string  `json:"epoch"`
	TickMs         int64   `json:"tick_ms"`
	TimeBits       uint8   `json:"time_bits"`
	RollbackBits   uint8   `json:"rollback_bits"`
	DatacenterBits uint8   `json:"datacenter_bits"`
	WorkerBits     uint8   `json:"worker_bits"`
	SequenceBits   uint8   `json:"sequence_bits"`
	SequenceFirst  bool    `json:"sequence_first"`
	Unsigned       bool    `json:"unsigned"`
	Bits           int     `json:"bits"`
	Workers        string  `json:"workers"`
	PerTick        string  `json:"ids_per_tick"`
	PerSecond      string  `json:"ids_per_second"`     // of one worker, to six decimals, cut off
	AllPerSecond   string  `json:"all_ids_per_second"` // of all workers
	End            string  `json:"end"`
	Expired        bool    `json:"expired"`
	UnsafeFrom     *string `json:"javascript_unsafe_from"` // nil: never, or beyond the end
	Diagram        string  `json:"diagram"`
}

func describe(l core.Layout, now time.Time) layoutBody {
	b := layoutBody{
		Epoch: formatTime(l.Epoch), TickMs: int64(l.Tick / time.Millisecond),
		TimeBits: l.TimeBits, RollbackBits: l.RollbackBits, DatacenterBits: l.DatacenterBits, WorkerBits: l.WorkerBits, SequenceBits: l.SequenceBits,
		SequenceFirst: l.SequenceFirst, Unsigned: l.Unsigned,
		Bits: lowBits(l) + int(l.TimeBits), Workers: big.NewInt(l.WorkerIDs()).String(), PerTick: big.NewInt(l.IDsPerTick()).String(),
		End: formatTime(l.End()), Expired: !now.Before(l.End()), Diagram: l.Diagram(),
	}
	perWorker := big.NewInt(l.IDsPerTick())
	b.PerSecond = perSecond(perWorker, l.Tick)
	b.AllPerSecond = perSecond(perWorker.Mul(perWorker, big.NewInt(l.WorkerIDs())), l.Tick)
	if b.Bits > 53 {
		text := formatTime(unsafeFrom(l))
		b.UnsafeFrom = &text
	}
	return b
}

// unsafeFrom is the first tick whose greatest id is above 2^53-1.
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

// lowBits is the number of bits below the time.
func lowBits(l core.Layout) int {
	return int(l.RollbackBits) + int(l.DatacenterBits) + int(l.WorkerBits) + int(l.SequenceBits)
}

// perSecond says how many a second so many for each tick are, to six decimals, the
// rest cut off.
func perSecond(perTick *big.Int, tick time.Duration) string {
	n := new(big.Int).Mul(perTick, big.NewInt(1_000_000_000))
	n.Quo(n, big.NewInt(int64(tick/time.Millisecond)))
	whole, part := n.QuoRem(n, big.NewInt(1_000_000), new(big.Int))
	if part.Sign() == 0 {
		return whole.String()
	}
	return whole.String() + "." + strings.TrimRight(quote(1_000_000 + part.Int64())[1:], "0")
}
