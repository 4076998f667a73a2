package ddl

import "fmt"

// RequireKey returns the script that makes the database reject a row whose key the program has
// not set. Otherwise the database may make a key that a generator issues too. Use it where no
// [Generator] is possible, and for tables that only Go programs should write to.
//
// In MySQL, MariaDB and SQLite it is a trigger that rejects NULL and 0, even if the column has
// AUTO_INCREMENT or is a rowid; in SQLite it also rejects negative keys. In PostgreSQL the script
// drops the column's default and identity, and makes it NOT NULL. Running the script again changes
// nothing.
func (c Config) RequireKey(table, column string) (Script, error) {
	b := c.builder()
	on, key := b.object("Table", table), b.Dialect.ident(&b.wrong, "Column", column)
	if c.Dialect == Postgres {
		return done(b, Script{fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s DROP IDENTITY IF EXISTS, ALTER COLUMN %[2]s DROP DEFAULT, ALTER COLUMN %[2]s SET NOT NULL", on, key)})
	}
	suffix := "_" + column + "_required"
	b.Dialect.identWith(&b.wrong, "Table", table, suffix)
	trigger := b.Dialect.qualify(b.Schema, table+suffix)
	text := b.Dialect.text("snowkey: the key is missing: only programs with a generator insert here")
	if c.Dialect == SQLite {
		return done(b, Script{fmt.Sprintf("CREATE TRIGGER IF NOT EXISTS %s BEFORE INSERT ON %s WHEN NEW.%s IS NULL OR NEW.%[3]s <= 0 BEGIN SELECT RAISE(ABORT, %s); END", trigger, b.Dialect.quote(table), key, text)})
	}
	return done(b, Script{
		"DROP TRIGGER IF EXISTS " + trigger,
		fmt.Sprintf("CREATE TRIGGER %s BEFORE INSERT ON %s FOR EACH ROW\nBEGIN\n  IF NEW.%s IS NULL OR NEW.%[3]s = 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = %s; END IF;\nEND", trigger, on, key, text),
	})
}
