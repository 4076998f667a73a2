package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
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
