package web

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// apiNames replaces core's field names by the API's.
var apiNames = strings.NewReplacer("Layout.", "", "TimeBits", "time_bits", "RollbackBits", "rollback_bits", "DatacenterBits", "datacenter_bits",
	"WorkerBits", "worker_bits", "SequenceBits", "sequence_bits", "Epoch", "epoch", "Tick", "tick",
	"Worker", "worker", "Datacenter", "datacenter", "Sequence", "sequence", "Rollback", "rollback", "Time", "time")

// layout reads a layout: a preset with some fields replaced, or fields alone. The
// default is Twitter's.
func (p *params) layout() (l core.Layout, given bool) {
	before := len(p.errs)
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
			p.wrong("preset", name, "must be one of "+strings.Join(names, ", "))
		}
	}
	fixed := func(text string, _ time.Time, _ *time.Location) (time.Time, error) { return timetext.ParseFixed(text) }
	if t, ok := p.time("epoch", fixed); ok {
		given = true
		l.Epoch = t
		if t.IsZero() { // core takes it for Twitter's
			p.wrong("epoch", timetext.Format(t), "must be later than the beginning of the year 1")
		}
	}
	if text, ok := p.text("tick"); ok {
		given = true
		tick, err := time.ParseDuration(text)
		if err != nil || tick <= 0 { // core takes 0 for its default
			p.wrong("tick", text, "must be a duration above 0, such as 1ms, 10ms or 1s")
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
	if widths && l.TimeBits|l.RollbackBits|l.DatacenterBits|l.WorkerBits|l.SequenceBits == 0 { // core takes them for Twitter's
		p.wrong("time_bits", "0", "must be at least 1")
	}
	if v, ok := p.flag("sequence_first"); ok {
		l.SequenceFirst, given = v, true
	}
	if v, ok := p.flag("unsigned"); ok {
		l.Unsigned, given = v, true
	}
	if len(p.errs) == before {
		var config *core.ConfigError
		if errors.As(l.Validate(), &config) {
			for _, f := range config.Fields {
				p.wrong(apiNames.Replace(f.Field), f.Value, f.Reason)
			}
		}
	}
	return l.WithDefaults(), given
}

// outside reports a value that does not fit a layout under the API's name for it.
func outside(err error, field func(string) string) error {
	var ranged *core.RangeError
	if !errors.As(err, &ranged) {
		return err
	}
	return refuse(http.StatusBadRequest, field(ranged.Field), ranged.Value, ranged.Limit)
}

// layouts answers with all presets, or with the layout that the query describes.
func (s *server) layouts(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := newParams(r)
	l, given := p.layout()
	if err := p.end(); err != nil {
		return nil, err
	}
	all := describe.Layouts(time.Now())
	if given {
		all = []describe.Layout{describe.NewLayout(l, time.Now())}
	}
	return layoutsBody{all}, nil
}

type layoutsBody struct {
	Layouts []describe.Layout `json:"layouts"`
}
