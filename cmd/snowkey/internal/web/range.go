package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// column is a name that may stand in SQL as it is.
var column = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62}){0,2}$`)

type rangeBody struct {
	From  string `json:"from"`
	To    string `json:"to,omitempty"`
	Min   string `json:"min"`           // the least id of the span
	Max   string `json:"max,omitempty"` // the least id behind it
	Where string `json:"where"`
}

// ranges answers with the bounds of the ids of [from, to), or of all from a time on.
func (s *server) ranges(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := newParams(r)
	l, _ := p.layout()
	from, _ := p.time("from")
	if !p.values.Has("from") {
		p.fault("from", "", timeForms)
	}
	to, bounded := p.time("to")
	name, ok := p.text("column")
	if !ok {
		name = "id"
	} else if !column.MatchString(name) {
		p.fault("column", name, "must be a name of letters, digits and _, with its table's before it if need be")
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if !bounded {
		least, err := l.FirstAt(from)
		if err != nil {
			return nil, outside(err, func(string) string { return "from" })
		}
		if l.Unsigned && int(l.TimeBits)+lowBits(l) == 64 && least >= 0 {
			return nil, refuse(http.StatusBadRequest, "to", "", "must be given: the later ids of this layout are negative")
		}
		return rangeBody{From: stamp(from), Min: quote(least), Where: fmt.Sprintf("%s >= %d", name, least)}, nil
	}
	least, behind, err := l.Range(from, to)
	if err != nil {
		return nil, outside(err, strings.ToLower)
	}
	return rangeBody{
		From: stamp(from), To: stamp(to), Min: quote(least), Max: quote(behind),
		Where: fmt.Sprintf("%s >= %d AND %s < %d", name, least, name, behind),
	}, nil
}

// stamp repeats a time that was given, with all its digits.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
