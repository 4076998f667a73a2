package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
)

// maxQuery bounds what stands behind the question mark.
const maxQuery = 32 << 10

// params reads a query strictly: it notes every fault, of parameters that are wrong,
// stand there twice, or are not known.
type params struct {
	values url.Values
	asked  map[string]bool
	faults []core.FieldError
	status int
}

func newParams(r *http.Request) *params {
	p := &params{asked: map[string]bool{}, status: http.StatusBadRequest}
	if len(r.URL.RawQuery) > maxQuery {
		p.status = http.StatusRequestURITooLong
		p.fault("query", "of "+strconv.Itoa(len(r.URL.RawQuery))+" bytes", "must have at most "+strconv.Itoa(maxQuery)+"; /api/parse takes more by POST")
		return p
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.fault("query", r.URL.RawQuery, err.Error())
	}
	p.values = values
	return p
}

func (p *params) fault(field, value, reason string) {
	p.faults = append(p.faults, core.FieldError{Field: field, Value: shorten(value), Reason: reason})
}

// text is a parameter, and whether it was given.
func (p *params) text(name string) (value string, given bool) {
	p.asked[name] = true
	all := p.values[name]
	if len(all) > 1 {
		p.fault(name, strings.Join(all, ", "), "must be given once")
	}
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// list is a parameter that may be given many times.
func (p *params) list(name string) []string {
	p.asked[name] = true
	return p.values[name]
}

// number is a parameter that is a whole number from least to most.
func (p *params) number(name string, least, most int64) (value int64, given bool) {
	text, given := p.text(name)
	if !given {
		return 0, false
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < least || value > most || !plainDigits(text) {
		p.fault(name, text, "must be a whole number from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
		return 0, false
	}
	return value, true
}

// plainDigits refuses what ParseInt takes beside: signs, and zeros before a number.
func plainDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == "" && (text == "0" || text[0] != '0')
}

// choice is a parameter that is one of some words; the first of them if not given.
func (p *params) choice(name string, words ...string) string {
	text, given := p.text(name)
	if !given {
		return words[0]
	}
	if !slices.Contains(words, text) {
		p.fault(name, text, "must be "+strings.Join(words, ", ")+"; "+words[0]+" if it is left out")
	}
	return text
}

// flag is a parameter that is true or false.
func (p *params) flag(name string) (value, given bool) {
	text, given := p.text(name)
	if given && text != "true" && text != "false" {
		p.fault(name, text, "must be true or false")
	}
	return text == "true", given
}

// end adds a fault for whatever nobody asked for, and gives all of them.
func (p *params) end() error {
	unknown := make([]core.FieldError, 0)
	for name, all := range p.values {
		if !p.asked[name] {
			unknown = append(unknown, core.FieldError{Field: shorten(name), Value: shorten(strings.Join(all, ", ")), Reason: "is no parameter here; /api/openapi.json lists them"})
		}
	}
	slices.SortFunc(unknown, func(a, b core.FieldError) int { return cmp.Compare(a.Field, b.Field) })
	p.faults = append(p.faults, unknown...)
	if len(p.faults) == 0 {
		return nil
	}
	return &refusal{p.status, p.faults}
}
