package web

import (
	"bytes"
	"cmp"
	"encoding/json"
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
		p.wrong("query", strconv.Itoa(len(r.URL.RawQuery))+" bytes", "must have at most "+strconv.Itoa(maxQuery))
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

// read returns a parameter, and whether there is one that parse accepts.
func read[T any](p *params, name string, parse func(string) (T, error)) (value T, ok bool) {
	text, given := p.text(name)
	if !given {
		return value, false
	}
	value, err := parse(text)
	if err != nil {
		p.wrong(name, text, err.Error())
	}
	return value, err == nil
}

// boolean parses true or false.
func boolean(text string) (bool, error) {
	word, err := flagval.OneOf("true", "false")(text)
	return word == "true", err
}

// moment returns a parser of times. If they name no zone, they are in that of tz, or in UTC.
func (p *params) moment() func(string) (time.Time, error) {
	zone, ok := read(p, "tz", flagval.Zone)
	if !ok {
		zone = time.UTC
	}
	return func(text string) (time.Time, error) { return timetext.Parse(text, time.Now(), zone) }
}

// format reads how ids are written. Where auto is the default, it may also be given.
func (p *params) format(standard describe.Format) describe.Format {
	f, ok := read(p, "format", func(text string) (describe.Format, error) {
		f, err := describe.FormatOf(text)
		switch {
		case err == nil || standard != describe.Auto:
			return f, err
		case strings.EqualFold(text, string(describe.Auto)):
			return describe.Auto, nil
		}
		return "", errors.New("must be auto, " + describe.Forms)
	})
	if ok {
		return f
	}
	return standard
}

// end reports all errors, those of unknown parameters last.
func (p *params) end() error {
	var unknown []core.FieldError
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
	return &refusal{status: p.status, errs: p.errs}
}

// apiNames replaces core's field names by the API's.
var apiNames = strings.NewReplacer("Layout.", "", "TimeBits", "time_bits", "RollbackBits", "rollback_bits", "DatacenterBits", "datacenter_bits",
	"WorkerBits", "worker_bits", "SequenceBits", "sequence_bits", "Epoch", "epoch", "Tick", "tick",
	"Worker", "worker", "Datacenter", "datacenter", "Sequence", "sequence", "Rollback", "rollback", "Time", "time", "Count", "n")

// layout reads a layout: a preset with some fields replaced, or fields alone. The
// default is Twitter's.
func (p *params) layout() core.Layout {
	before := len(p.errs)
	l, _ := read(p, "preset", flagval.Preset)
	if t, ok := read(p, "epoch", timetext.ParseEpoch); ok {
		l.Epoch = t
	}
	if tick, ok := read(p, "tick", flagval.Tick); ok {
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
		if n, ok := read(p, f.name, flagval.Whole(0, 64)); ok {
			*f.bits, widths = uint8(n), true
		}
	}
	if widths && l.TimeBits|l.RollbackBits|l.DatacenterBits|l.WorkerBits|l.SequenceBits == 0 { // core takes them for Twitter's
		p.wrong("time_bits", "0", "must be at least 1")
	}
	if v, ok := read(p, "sequence_first", boolean); ok {
		l.SequenceFirst = v
	}
	if v, ok := read(p, "unsigned", boolean); ok {
		l.Unsigned = v
	}
	if len(p.errs) == before {
		p.config(l.Validate())
	}
	return l.WithDefaults()
}

// config adds the fields of a ConfigError under the API's names.
func (p *params) config(err error) {
	var config *core.ConfigError
	if !errors.As(err, &config) {
		return
	}
	for _, f := range config.Fields {
		name := apiNames.Replace(f.Field)
		p.wrong(name, cmp.Or(p.values.Get(name), f.Value), f.Reason)
	}
}

// outside reports a value that does not fit a layout under the API's name for it.
func outside(err error, field func(string) string) error {
	var ranged *core.RangeError
	if !errors.As(err, &ranged) {
		return err
	}
	return refuse(http.StatusBadRequest, field(ranged.Field), ranged.Value, ranged.Limit)
}

// A refusal is an error response: a status and all errors in the input.
type refusal struct {
	status int
	errs   []core.FieldError
	retry  time.Duration // with 503: a repetition before this has passed is useless
}

func (e *refusal) Error() string { return fmt.Sprintf("%d: %v", e.status, e.errs) }

func refuse(status int, field, value, reason string) *refusal {
	return &refusal{status: status, errs: []core.FieldError{{Field: field, Value: value, Reason: reason}}}
}

// after sets when a repetition may succeed.
func (e *refusal) after(d time.Duration) *refusal {
	e.retry = d
	return e
}

type fieldBody struct {
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

type errorBody struct {
	Error struct {
		Message string      `json:"message"`
		Fields  []fieldBody `json:"fields"`
	} `json:"error"`
}

// longest bounds what an error quotes of a value.
const longest = 100

func shorten(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…" // not inside a character
}

func quote(v any) string { return shorten(fmt.Sprint(v)) }

// fail answers with an error.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused *refusal
	if !errors.As(err, &refused) {
		s.logger.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		refused = internalError(r)
	}
	writeErrors(w, r, refused)
}

func internalError(r *http.Request) *refusal {
	return refuse(http.StatusInternalServerError, "request", r.URL.Path, "internal error; see the server's log")
}

func writeErrors(w http.ResponseWriter, r *http.Request, e *refusal) {
	var body errorBody
	for i, f := range e.errs {
		f.Value = shorten(f.Value)
		body.Error.Fields = append(body.Error.Fields, fieldBody(f))
		if i == 0 {
			body.Error.Message = message(f)
		}
	}
	if more := len(e.errs) - 1; more > 0 {
		body.Error.Message += fmt.Sprintf("; and %d more", more)
	}
	w.Header().Set("Cache-Control", "no-store")
	if e.status == http.StatusServiceUnavailable {
		seconds := max(1, (e.retry+time.Second-1)/time.Second) // whole ones, never too early
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	writeJSON(w, r, e.status, body)
}

// message formats an error in one line.
func message(f core.FieldError) string {
	if f.Value == "" { // nothing to quote
		return f.Field + ": " + f.Reason
	}
	return f.String()
}

// writeJSON does not escape < and >: the media type is not HTML. A client that misses
// the response asks again.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, body any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body) // all bodies can be encoded
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text.Bytes())
	}
}
