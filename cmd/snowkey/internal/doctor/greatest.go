package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
)

// How far the greatest id may be ahead of the clock: clocks differ by a little, and
// by default a generator runs ahead of its own by 10s at most.
const (
	aheadOK   = time.Second
	aheadWarn = time.Minute
)

// greatest looks at the greatest id of a column: whoever makes ids by the clock must
// not begin below it.
func (e *examination) greatest(ctx context.Context, c Column) {
	name := "greatest id of " + c.Table + "." + c.Column
	quote := `"`
	if e.Target.Kind == dsn.MySQL {
		quote = "`"
	}
	quoted := func(text string) string {
		parts := strings.Split(text, ".")
		for i, part := range parts {
			parts[i] = quote + strings.ReplaceAll(part, quote, quote+quote) + quote
		}
		return strings.Join(parts, ".")
	}
	var text sql.NullString
	query := "SELECT MAX(" + quote + strings.ReplaceAll(c.Column, quote, quote+quote) + quote + ") FROM " + quoted(c.Table)
	if err := e.Target.DB.QueryRowContext(ctx, query).Scan(&text); err != nil {
		e.tell(Fail, name, err.Error(), "see whether the names are right, and this user may read it")
		return
	}
	if !text.Valid {
		e.ok(name, "it has no rows")
		return
	}
	id, err := strconv.ParseInt(text.String, 10, 64)
	if err != nil {
		e.tell(Fail, name, fmt.Sprintf("%.40q is no bigint", text.String), "give the column that holds the ids")
		return
	}
	parts, err := e.Layout.Decode(id)
	if err != nil {
		e.tell(Fail, name, fmt.Sprintf("%d is not of this layout", id), "give the layout's flags; if they are right, something else than snowkey fills the column")
		return
	}
	ahead := parts.Time.Sub(e.Now())
	detail := fmt.Sprintf("%d of %s", id, parts.Time.Format("2006-01-02T15:04:05.000Z"))
	advice := fmt.Sprintf("generators without a lease may repeat ids: give them core.Config.NotBefore (gen --not-before) %s, and see whose clock was fast", parts.Time.Format("2006-01-02T15:04:05.000Z"))
	switch {
	case ahead > aheadWarn:
		e.tell(Fail, name, detail+", "+round(ahead).String()+" ahead of now", advice)
	case ahead > aheadOK:
		e.tell(Warn, name, detail+", "+round(ahead).String()+" ahead of now", advice)
	default:
		e.ok(name, "%s, not ahead of now", detail)
	}
}
