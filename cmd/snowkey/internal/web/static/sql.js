// Names of columns in SQL. They are quoted if a database may need it: PostgreSQL folds capitals,
// and each database has reserved words. Quotation marks that are not needed do no harm.

// Words that PostgreSQL, MySQL, MariaDB or SQLite reserve, and that may be the name of a table or column.
const reserved = new Set(`abort accessible action add after all alter always analyse analyze and any array as asc asensitive
asymmetric attach authorization autoincrement before begin between bigint binary blob both by call cascade case cast change
char character check collate collation column commit concurrently condition conflict constraint continue convert create cross
cube cume_dist current current_catalog current_date current_role current_schema current_time current_timestamp current_user
cursor database databases dec decimal declare default deferrable deferred delayed delete dense_rank desc describe detach
deterministic distinct distinctrow div do double drop dual each else elseif empty enclosed end escape escaped except exclude
exclusive exists exit explain fail false fetch filter first first_value float following for force foreign freeze from full
fulltext function generated get glob grant group grouping groups having high_priority if ignore ilike immediate in index
indexed infile initially inner inout insensitive insert instead int integer intersect interval into is isnull iterate join
json_table key keys kill lag last last_value lateral lead leading leave left like limit linear lines load localtime
localtimestamp lock long loop low_priority manual match materialized maxvalue mod modifies natural no not nothing notnull null
nulls numeric of offset on only open optimize option optionally or order others out outer over overlaps parallel partition
percent_rank placing plan position pragma preceding precision primary procedure purge qualify query raise range rank read reads
real recursive references regexp reindex release rename repeat replace require resignal restrict return returning revoke right
rlike role rollback rollup row row_number rows savepoint schema schemas select sensitive separator session_user set show signal
similar smallint some spatial specific sql sqlexception sqlstate sqlwarning ssl starting stored straight_join symmetric system
system_user table tablesample temp temporary terminated then ties to trailing transaction trigger true unbounded undo union
unique unlock unsigned update usage user using utc_date utc_time utc_timestamp vacuum values varchar variadic varying verbose
view virtual when where while window with without write xor zerofill`.split(/\s+/));

const plain = /^[a-z_][a-z0-9_]*$/;
const name = /^[\p{L}_][\p{L}\p{N}_$ -]{0,62}$/u;

// column reads a column, optionally after its table and schema, and quotes what needs it. It
// returns undefined if a part is not a name.
export function column(text, dialect) {
  const mark = dialect === "mysql" ? "`" : '"';
  const parts = text.trim().split(".").map((part) => {
    const quoted = /^(["`])(.*)\1$/.exec(part.trim());
    return quoted ? quoted[2] : part.trim();
  });
  if (parts.length > 3 || !parts.every((part) => name.test(part) && !part.endsWith(" "))) return undefined;
  return parts.map((part) => (plain.test(part) && !reserved.has(part) ? part : mark + part + mark)).join(".");
}
