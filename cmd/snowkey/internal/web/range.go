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
func (s *server) ranges(p *params, _ http.ResponseWriter, _ *http.Request) (any, error) {
	l := p.layout()
	from, _ := read(p, "from", moment)
	if !p.values.Has("from") {
		p.wrong("from", "", "must be given: a time such as "+timetext.Forms)
	}
	to, bounded := read(p, "to", moment)
	name, ok := p.text("column")
	if !ok {
		name = "id"
	} else if !column.MatchString(name) {
		p.wrong("column", name, "must be a name of letters, digits and _, optionally after that of its table")
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	d := describe.Range{From: stamp(from)}
	if !bounded {
		low, err := l.FirstAt(from)
		if err != nil {
			return nil, outside(err, func(string) string { return "from" })
		}
		if l.Unsigned && describe.NewLayout(l, from).Bits == 64 && low >= 0 {
			return nil, refuse(http.StatusBadRequest, "to", "", "must be given: later IDs of this layout are negative")
		}
		d.Min, d.Where = strconv.FormatInt(low, 10), fmt.Sprintf("%s >= %d", name, low)
		return d, nil
	}
	low, high, err := l.Range(from, to)
	if err != nil {
		return nil, outside(err, strings.ToLower)
	}
	d.To, d.Min, d.Max = stamp(to), strconv.FormatInt(low, 10), strconv.FormatInt(high, 10)
	d.Where = fmt.Sprintf("%s >= %d AND %s < %d", name, low, name, high)
	return d, nil
}

// stamp repeats a time with all its digits.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
