package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
)

// forbidden is the error if the role lacks the rights to create or read the tables. It ends
// with the statements that another role has to run.
func (x session) forbidden(ctx context.Context, verb string, missing []table, err error) error {
	role := x.role(ctx)
	var script, grants []string
	for _, t := range missing {
		script = append(script, x.cfg.ddl()[t]+";")
		if role != "" {
			grants = append(grants, "GRANT "+t.rights()+" ON "+x.cfg.table(t.suffix())+" TO "+role+";")
		}
	}
	subject := "the role"
	if role != "" {
		subject += " " + role
	}
	return fmt.Errorf("sqlstore: %s cannot %s the table %s: %w; as a role that may create it, run: %s", subject, verb, x.cfg.table(missing[0].suffix()), err, strings.Join(append(script, grants...), " "))
}

// role returns the quoted role, or "" if the database has none.
func (x session) role(ctx context.Context) (role string) {
	query := "SELECT quote_ident(CAST(current_user AS TEXT))"
	switch x.cfg.Dialect {
	case MySQL:
		query = "SELECT CURRENT_USER()"
	case SQLite:
		return ""
	}
	if x.row(ctx, query, &role) != nil {
		return "" // the error says enough without it
	}
	if i := strings.LastIndexByte(role, '@'); x.cfg.Dialect == MySQL && i >= 0 {
		role = "'" + strings.ReplaceAll(role[:i], "'", "''") + "'@'" + role[i+1:] + "'"
	}
	return role
}

// withRights adds the missing right to PostgreSQL's error, which names only the table.
func (s *Store) withRights(ctx context.Context, err error) error {
	if retry.SQLState(err) == "" || !denied(err) { // MySQL's error names both
		return err
	}
	var missing string
	i := s.inspected.Load()
	if i == nil || s.onConnection(ctx, func(conn *sql.Conn) error { return session{i.st, conn}.row(ctx, i.missingRights(), &missing) }) != nil || missing == "" {
		return err
	}
	return fmt.Errorf("%w; the role lacks %s: GRANT it", err, missing)
}

// missingRights is the query for the rights that the role lacks on the tables that exist.
func (i *inspected) missingRights() string {
	var values []string
	for t := range tables {
		for right := range strings.SplitSeq(t.rights(), ", ") {
			if i.tables[t] {
				values = append(values, "('"+i.st.cfg.table(t.suffix())+"', '"+right+"')")
			}
		}
	}
	if values == nil {
		return "SELECT ''"
	}
	return "SELECT COALESCE(string_agg(n.privilege || ' on ' || n.name, ', '), '') FROM (VALUES " + strings.Join(values, ", ") + ") n (name, privilege)" +
		" WHERE NOT has_table_privilege(n.name, n.privilege)"
}
