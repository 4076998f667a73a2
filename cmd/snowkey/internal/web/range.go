package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
)

// column is a name that needs no quotes in SQL.
var column = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62}){0,2}$`)

// ranges answers with the IDs of [from, to), or of all times from one on.
func (s *server) ranges(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := newParams(r)
	l, _ := p.layout()
	from, given := p.time("from", timetext.Parse)
	if !given && !p.values.Has("from") {
		p.wrong("from", "", "must be given: a time such as "+timetext.Forms)
	}
	to, bounded := p.time("to", timetext.Parse)
	name, ok := p.text("column")
	if !ok {
		name = "id"
	} else if !column.MatchString(name) {
		p.wrong("column", name, "must be a name of letters, digits and _, optionally after that of its table")
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if !bounded {
		low, err := l.FirstAt(from)
		if err != nil {
			return nil, outside(err, func(string) string { return "from" })
		}
		if l.Unsigned && describe.NewLayout(l, from).Bits == 64 && low >= 0 {
			return nil, refuse(http.StatusBadRequest, "to", "", "must be given: later IDs of this layout are negative")
		}
		return describe.Range{From: stamp(from), Min: strconv.FormatInt(low, 10), Where: fmt.Sprintf("%s >= %d", name, low)}, nil
	}
	low, high, err := l.Range(from, to)
	if err != nil {
		return nil, outside(err, strings.ToLower)
	}
	return describe.Range{
		From: stamp(from), To: stamp(to), Min: strconv.FormatInt(low, 10), Max: strconv.FormatInt(high, 10),
		Where: fmt.Sprintf("%s >= %d AND %s < %d", name, low, name, high),
	}, nil
}

// stamp repeats a time with all its digits.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
