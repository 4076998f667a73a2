package ddl

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// mariadbGenerator writes the generator for MariaDB.
//
// Its cursor is the AUTO_INCREMENT of a table, because that may be raised from a function to a
// value which is computed: SETVAL takes a literal. Inserting a greater value raises it, nothing
// lowers it, and no rollback undoes it. Each function call that needs more takes a block of ids for
// its session, which keeps the rest in user variables.
//
// A crash loses what the redo log has not flushed, the cursor as well. So no block is used at or
// beyond a fence, which is another such table, and which the log has flushed: Innodb_lsn_flushed
// says so. The first call after a start moves the cursor to the fence.
type mariadbGenerator struct{ *generator }

// A block has a quarter of a tick's ids of one worker ID, so that a tick serves several sessions.
func (g mariadbGenerator) parts() int64 {
	return min(4, int64(1)<<g.layout.below[Sequence].width)
}

func (g mariadbGenerator) blockSize() int64 {
	return int64(1) << g.layout.below[Sequence].width / g.parts()
}

// step is the distance of two successive ids of a block.
func (g mariadbGenerator) step() int64 { return 1 << g.layout.below[Sequence].shift }

// variable is the name of a session variable. It is of one generator, because a session may use
// several.
func (g mariadbGenerator) variable(name string) string {
	hash := fnv.New64a()
	hash.Write([]byte(g.Schema + "\x00" + g.Prefix + "\x00" + g.Namespace))
	return fmt.Sprintf("@snowkey_%s_%016x", name, hash.Sum64())
}

// home is the schema of the objects, as SQL.
func (g mariadbGenerator) home() string {
	if g.Schema != "" {
		return MySQL.text(g.Schema)
	}
	return "DATABASE()"
}

// lock is the name of a user-level lock for some purpose, as SQL.
func (g mariadbGenerator) lock(purpose string) string {
	return "CONCAT(" + MySQL.text("snowkey "+purpose) + ", MD5(CONCAT(" + g.home() + ", " + MySQL.text(" "+g.Prefix) + ")))"
}

// fill replaces the names in SQL. {x} is the quoted name of an object, {'x} the same as a text,
// and {@x} a session variable.
func (g mariadbGenerator) fill(text string, more ...string) string {
	schema, table := "", g.Table
	if before, after, ok := strings.Cut(g.Table, "."); ok {
		schema, table = before, after
	}
	pairs := []string{
		"{leases}", MySQL.qualify(schema, table), "{spaces}", MySQL.qualify(schema, table+"_space"),
		"{namespace}", MySQL.text(g.Namespace), "{fingerprint}", MySQL.text(g.fingerprint),
		"{schema}", g.home(), "{prefix}", strings.ReplaceAll(g.Prefix, "'", "''"),
		"{epoch}", strconv.FormatInt(g.layout.Epoch.UnixMilli(), 10), "{tick}", strconv.FormatInt(g.layout.tickMs, 10),
		"{parts}", strconv.FormatInt(g.parts(), 10), "{step}", strconv.FormatInt(g.step(), 10), "{fresh}", g.fresh(),
		"{now}", "SET STATEMENT time_zone = '+00:00' FOR SET now_ms = UNIX_TIMESTAMP(SYSDATE(3)) * 1000",
	}
	for _, name := range []string{"next", "claim", "home", "generator", "cursor", "fence", "ready"} {
		pairs = append(pairs, "{"+name+"}", g.object(name), "{'"+name+"}", MySQL.text(g.Prefix+name))
	}
	for _, name := range []string{"next", "last", "until", "key", "home", "fence", "lsn", "row"} {
		pairs = append(pairs, "{@"+name+"}", g.variable(name))
	}
	text = strings.NewReplacer(more...).Replace(text)
	return strings.NewReplacer(pairs...).Replace(text)
}

// raise moves the AUTO_INCREMENT of a table to a value, unless it is there already.
func (g mariadbGenerator) raise(table, value string) string {
	return g.move(table, "n, ", value+", ")
}

// take sets block to the next of the cursor.
func (g mariadbGenerator) take() string {
	return g.move("cursor", "", "") + "\n    SET block = LAST_INSERT_ID();"
}

// move moves an AUTO_INCREMENT by a row that is deleted at once, in one session at a time. When
// DELETE finds the first row of a page, it locks the gap before it until the transaction ends, and
// a session that came there later, with a smaller key, would wait for that. A session that is
// killed in between keeps the turn until it takes its next; the others wait only for a moment.
func (g mariadbGenerator) move(table, column, value string) string {
	return g.fill("DO RELEASE_LOCK({turn}), GET_LOCK({turn}, 0.3);\n"+
		"    SET STATEMENT auto_increment_increment = 1, auto_increment_offset = 1 FOR INSERT INTO {"+table+"} ("+column+"session) VALUES ("+value+"{@row} := UUID_SHORT());\n"+
		"    DELETE FROM {"+table+"} WHERE session = CAST({@row} AS UNSIGNED);\n"+
		"    DO RELEASE_LOCK({turn});", "{turn}", g.lock("turn "))
}

// counted reads the value to which a table was raised, and when the table was created. It is
// true of this moment, whatever the transaction may see otherwise.
func (g mariadbGenerator) counted(table, into string) string {
	return g.fill("SELECT COALESCE(AUTO_INCREMENT, 1) - 1, UNIX_TIMESTAMP(CREATE_TIME) INTO " + into + " FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {'" + table + "};")
}

func (g mariadbGenerator) create() (Script, error) {
	script := Script{notOnMySQL, g.guard()}
	script = append(script, g.tables...)
	for _, name := range []string{"cursor", "fence", "ready"} {
		script = append(script, g.fill("CREATE TABLE IF NOT EXISTS {"+name+"} (n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, session BIGINT UNSIGNED NOT NULL PRIMARY KEY, KEY (n)) ENGINE=InnoDB"))
	}
	return append(script,
		g.fill("CREATE TABLE IF NOT EXISTS {generator} (slot INT NOT NULL PRIMARY KEY, worker BIGINT NOT NULL, workers INT NOT NULL, claim VARCHAR(64) CHARACTER SET ascii NOT NULL, "+
			"home VARCHAR(1024) CHARACTER SET utf8mb4 NOT NULL, created BIGINT, table_id BIGINT) ENGINE=InnoDB COMMENT={comment}", "{comment}", MySQL.text(g.comment())),
		g.homeFunction(), g.claimProcedure(), g.fill("CALL {claim}({given})", "{given}", g.given()), g.nextFunction()), nil
}

// notOnMySQL does nothing in MariaDB, which reads the name as a string. In MySQL it fails, with the
// name in the error.
const notOnMySQL = "DO /*M!'*/ `snowkey: MySQL has no generator, see docs/generator.md` /*M!'*/"

// comment is that of the table of the generator, by which guard and doctor know the namespace.
func (g mariadbGenerator) comment() string { return "snowkey generator of namespace " + g.Namespace }

// guard rejects a prefix that another generator has.
func (g mariadbGenerator) guard() string {
	return g.fill(`BEGIN NOT ATOMIC
  IF EXISTS (SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {'generator} AND TABLE_COMMENT <> {comment}) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snowkey: another namespace has the generator with this prefix: choose another one';
  END IF;
END`, "{comment}", MySQL.text(g.comment()))
}

// homeFunction identifies this server and database. A dump, or a copy of the files, does not.
func (g mariadbGenerator) homeFunction() string {
	return g.fill(`CREATE OR REPLACE FUNCTION {home}() RETURNS VARCHAR(1024) CHARACTER SET utf8mb4
  NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER COMMENT 'server and database of the snowkey generator'
  RETURN CONCAT_WS(' ', (SELECT GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = 'SERVER_UID'), @@datadir, DATABASE())`)
}

func (g mariadbGenerator) next() string {
	return g.object("next") + "(" + MySQL.text(g.Namespace) + ")"
}

// setDefault makes a trigger that sets the column if it is 0 or NULL, as AUTO_INCREMENT does:
// MariaDB accepts no function in a DEFAULT, and user variables in one crash the server. The
// trigger itself issues the rest of the session's block, because a function for each row is slower.
// CAST keeps an id from being a double while a new session's variables have no type.
func (g mariadbGenerator) setDefault(table, column string) (Script, error) {
	quoted := MySQL.quote(column)
	trigger, err := g.trigger(table, column)
	if err != nil {
		return nil, err
	}
	return Script{
		"ALTER TABLE " + table + " ALTER COLUMN " + quoted + " SET DEFAULT 0", // or INSERT … SELECT asks for a value
		fmt.Sprintf("CREATE OR REPLACE TRIGGER %s BEFORE INSERT ON %s FOR EACH ROW\n  SET NEW.%s = IF(NEW.%[3]s <> 0, NEW.%[3]s, IF(%[4]s, %[5]s, %[6]s))",
			trigger, table, quoted, g.fresh(), g.fill("{@next} := CAST({@next} AS SIGNED) + {step}"), g.next()),
	}, nil
}

// fresh is the condition that the session's block has another id, whose time is not more than a
// second or two before the statement's.
func (g mariadbGenerator) fresh() string {
	next, last, until := g.variable("next"), g.variable("last"), g.variable("until")
	return next + " < " + last + " AND UNIX_TIMESTAMP() <= " + until
}

// trigger names that of a table, in the table's schema.
func (g mariadbGenerator) trigger(table, column string) (string, error) {
	var wrong fields.Errors
	names := strings.Split(strings.Trim(table, "`"), "`.`")
	schema, bare := "", names[len(names)-1]
	if len(names) == 2 {
		schema = strings.ReplaceAll(names[0], "``", "`")
		if g.Schema == "" {
			wrong.Add("Schema", g.Schema, "must be that of the generator, because the table has one")
		}
	}
	name := strings.ReplaceAll(bare, "``", "`")
	MySQL.around(&wrong, "table", g.Prefix, name, "_"+column)
	return MySQL.qualify(schema, g.Prefix+name+"_"+column), wrong.Err("ddl")
}
