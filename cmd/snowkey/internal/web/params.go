package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// maxQuery bounds the query string.
const maxQuery = 32 << 10

// params reads a query strictly and collects all errors: wrong, repeated and unknown
// parameters.
type params struct {
	values url.Values
	asked  map[string]bool
	errs   []core.FieldError
	status int
}

func newParams(r *http.Request) *params {
	p := &params{asked: map[string]bool{}, status: http.StatusBadRequest}
	if len(r.URL.RawQuery) > maxQuery {
		p.status = http.StatusRequestURITooLong
		p.wrong("query", strconv.Itoa(len(r.URL.RawQuery))+" bytes", "must have at most "+strconv.Itoa(maxQuery)+"; POST to /api/parse takes more")
		return p
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.wrong("query", r.URL.RawQuery, err.Error())
	}
	p.values = values
	return p
}

func (p *params) wrong(field, value, reason string) {
	p.errs = append(p.errs, core.FieldError{Field: field, Value: shorten(value), Reason: reason})
}

// text returns a parameter, and whether it was given.
func (p *params) text(name string) (value string, given bool) {
	p.asked[name] = true
	all := p.values[name]
	if len(all) > 1 {
		p.wrong(name, strings.Join(all, ", "), "must be given once")
	}
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// list returns a parameter that may be repeated.
func (p *params) list(name string) []string {
	p.asked[name] = true
	return p.values[name]
}

// number reads a parameter that is a whole number from low to high.
func (p *params) number(name string, low, high int64) (value int64, given bool) {
	text, given := p.text(name)
	if !given {
		return 0, false
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < low || value > high || !plainDigits(text) {
		p.wrong(name, text, "must be a whole number from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10))
		return 0, false
	}
	return value, true
}

// plainDigits rejects what ParseInt accepts beyond digits: signs and leading zeros.
func plainDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == "" && (text == "0" || text[0] != '0')
}

// format reads how IDs are written; the first of the formats is the default.
func (p *params) format(formats ...idtext.Format) idtext.Format {
	text, given := p.text("format")
	if !given {
		return formats[0]
	}
	if !slices.Contains(formats, idtext.Format(text)) {
		p.wrong("format", text, fmt.Sprintf("must be one of %s; the default is %s", flagval.List(formats), formats[0]))
	}
	return idtext.Format(text)
}

// time reads a parameter that is a time, in UTC if it names no zone.
func (p *params) time(name string, parse func(string, time.Time, *time.Location) (time.Time, error)) (t time.Time, given bool) {
	text, given := p.text(name)
	if !given {
		return time.Time{}, false
	}
	t, err := parse(text, time.Now(), time.UTC)
	if err != nil {
		p.wrong(name, text, err.Error())
	}
	return t, err == nil
}

// flag reads a parameter that is true or false.
func (p *params) flag(name string) (value, given bool) {
	text, given := p.text(name)
	if given && text != "true" && text != "false" {
		p.wrong(name, text, "must be true or false")
	}
	return text == "true", given
}

// end reports all errors, those of unknown parameters last.
func (p *params) end() error {
	unknown := make([]core.FieldError, 0)
	for name, all := range p.values {
		if !p.asked[name] {
			unknown = append(unknown, core.FieldError{Field: shorten(name), Value: shorten(strings.Join(all, ", ")), Reason: "is not a parameter of this path; see /api/openapi.json"})
		}
	}
	slices.SortFunc(unknown, func(a, b core.FieldError) int { return cmp.Compare(a.Field, b.Field) })
	p.errs = append(p.errs, unknown...)
	if len(p.errs) == 0 {
		return nil
	}
	return &refusal{p.status, p.errs}
}

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
