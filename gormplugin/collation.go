package gormplugin

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// collationKey names a table whose collations were checked.
type collationKey struct {
	handle any // the same for all sessions of one gorm.Open
	table  string
}

// checkCollations refuses rows with a base 62 id if the column's collation in MySQL or MariaDB
// ignores case: one id in a few thousand would be refused as a duplicate. It queries the
// database once for each table.
func (p *Plugin) checkCollations(stmt *gorm.Statement, columns []keys.Column) error {
	known := collationKey{stmt.Callback(), stmt.Table}
	if stmt.Name() != "mysql" || stmt.DryRun || !slices.ContainsFunc(columns, func(c keys.Column) bool { return c.Kind == keys.Base62 }) {
		return nil
	}
	if _, ok := p.collations.Load(known); ok {
		return nil
	}
	collations, err := dialect.Collations(stmt.DB)
	if err != nil {
		return fmt.Errorf("which collations its columns have: %w", err)
	}
	for _, c := range columns {
		if collation := collations[strings.ToLower(c.DBName)]; c.Kind == keys.Base62 && strings.HasSuffix(collation, "_ci") {
			return fmt.Errorf("%s: the collation of its column is %q, which takes A for a, and base 62 does not: make the column char(11) CHARACTER SET ascii COLLATE ascii_bin", c.Name, collation)
		}
	}
	if len(collations) > 0 {
		p.collations.Store(known, true)
	}
	return nil
}
