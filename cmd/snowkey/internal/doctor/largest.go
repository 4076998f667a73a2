package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// How far the largest ID may be ahead of the clock: clocks differ a little, and by
// default a generator runs ahead of its own by at most 10s.
const (
	aheadOK   = time.Second
	aheadWarn = time.Minute
)

// largest checks the largest ID of a column: a generator must not start below it.
func (e *checkup) largest(ctx context.Context, c Column) {
	name := "largest ID of " + c.Table + "." + c.Column
	var text sql.NullString
	dialect := map[dsn.Kind]ddl.Dialect{dsn.Postgres: ddl.Postgres, dsn.MySQL: ddl.MySQL, dsn.SQLite: ddl.SQLite}[e.Target.Kind]
	column, err := dialect.Quote(c.Column)
	if err == nil {
		var table string
		if table, err = dialect.Quote(strings.Split(c.Table, ".")...); err == nil {
			err = e.Target.DB.QueryRowContext(ctx, "SELECT MAX("+column+") FROM "+table).Scan(&text)
		}
	}
	if err != nil {
		e.report(Fail, name, err.Error(), "check the names, and that this user may read it")
		return
	}
	if !text.Valid {
		e.ok(name, "it has no rows")
		return
	}
	id, err := strconv.ParseInt(text.String, 10, 64)
	if err != nil {
		e.report(Fail, name, fmt.Sprintf("%.40q is not a bigint", text.String), "give the column of the IDs")
		return
	}
	parts, err := e.Layout.Decode(id)
	if err != nil {
		e.report(Fail, name, fmt.Sprintf("%d is not an ID of this layout", id), "give the layout's flags; if they are right, something other than snowkey fills the column")
		return
	}
	ahead := parts.Time.Sub(e.Now())
	detail := fmt.Sprintf("%d of %s", id, timetext.Format(parts.Time))
	advice := fmt.Sprintf("generators without a lease may repeat IDs: set core.Config.NotBefore (gen --not-before) to %s, and find the clock that was fast", timetext.Format(parts.Time))
	if ahead <= aheadOK {
		e.ok(name, "%s, not ahead of now", detail)
		return
	}
	status := Warn
	if ahead > aheadWarn {
		status = Fail
	}
	e.report(status, name, fmt.Sprintf("%s, %s ahead of now", detail, round(ahead)), advice)
}
