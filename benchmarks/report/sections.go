package report

// section is a part of the report: one benchmark, what it is, and the units that have
// tables, in this order. The raw text has all units.
type section struct {
	Function, Title, About string
	Units                  []string
}

func sections() []section {
	return []section{
		{"Next", "One id at a time", "`mode=capped`: each library's own layout, at most 4096 ids a millisecond in most, which is 244.1 ns an id; " +
			"`mode=sonyflake`: 256 in 10 ms, 39,062 ns. `mode=uncapped`: a sequence of 20 bits, and keys that have none. All goroutines use one generator; cpu-% is the share of one core that it takes while it waits.",
			[]string{"ns/id", "cpu-%", "allocs/op"}},
		{"Loop", "One id at a time, in a plain loop", "`mode=uncapped` with one goroutine, as a user would measure it: no function value is called in between. `snowkey-leased` is below a fence; `clock` is one reading of the monotonic clock.", []string{"ns/op"}},
		{"Processors", "One id at a time, by the number of processors", "`go test -cpu 1,2,4,8`: one goroutine for each, even if the machine has fewer.", []string{"ns/op"}},
		{"Block", "A block of 1,000 ids", "Ours is one call; the others have no blocks and are called 1,000 times.", []string{"ns/id", "allocs/op"}},
		{"JSON", "JSON of 1,000 rows with two ids each", "encoding/json. A snowflake as a number would not survive JavaScript; `floor-string` holds strings.",
			[]string{"ns/row", "allocs/op"}},
		{"JSONv2", "The same with encoding/json/v2", "An experiment of the toolchain: `GOEXPERIMENT=jsonv2`.", []string{"ns/row", "allocs/op"}},
		{"Value", "database/sql: an id as an argument", "`floor-valuer` puts an int64 into an interface, an allocation, and checks nothing. bwmarrin and disgoorg have no method Value.", []string{"ns/op", "allocs/op"}},
		{"Scan", "database/sql: an id from a row", "", []string{"ns/op", "allocs/op"}},
		{"PgxEncode", "pgx: encode", "No server: the plan for a value, or an array of 1,000.", []string{"ns/op", "allocs/op"}},
		{"PgxScan", "pgx: scan", "", []string{"ns/op", "allocs/op"}},
		{"PgxCopy", "pgx: COPY of 10,000 rows with two keys", "", []string{"rows/s", "allocs/op"}},
		{"Insert", "Inserting rows", "Plain SQL, one transaction for each INSERT, `batch` rows in each. One op is 1,000, 10,000 or 20,000 rows. A table with a key and three other columns, filled from empty.",
			[]string{"rows/s", "stmts/op", "walB/row", "keyB/row", "diskB/row"}},
		{"SQLiteKeys", "Forms of a key in SQLite", "A key, a number and a text, 100 rows for each INSERT and transaction, which is not flushed to disk. All keys but `auto` and `autoincrement` are snowflakes. `before` is a bigint with an index, " +
			"`snowkey` what AutoMigrate makes with the plugin, `snowkey-wide` what it makes where rows may be long. `rowid` accepts a row without a key, and `trigger` rejects it by a trigger.",
			[]string{"rows/s", "cpu-rows/s", "diskB/row"}},
		{"MasterDetail", "Inserting parents with children", "100 parents with 10 children each in one transaction, with one INSERT for each table. RETURNING reads an auto-increment key back.",
			[]string{"rows/s", "stmts/op", "walB/row", "diskB/row"}},
		{"Graph", "GORM: parents with children", "1,000 parents with 10 children each in one transaction, including making the keys.", []string{"rows/s", "stmts/op", "allocs/op"}},
		{"GraphFar", "GORM: parents with children, behind a network", "100 parents with 10 children each; a round trip takes 1 ms.",
			[]string{"rows/s", "stmts/op"}},
		{"Load", "pgx: parents with children", "1,000 parents with 10 children each in one transaction, and the same behind a network of 1 ms a round trip.",
			[]string{"rows/s", "allocs/op"}},
		{"Growth", "A growing table", "Rows are added up to `rows`. The speed is that since the size before, the sizes are of the whole table.",
			[]string{"rows/s", "keyB/row", "diskB/row", "walB/row"}},
		{"Memory", "Memory", "The heap that one of each keeps, and the stacks of its goroutines.", []string{"heapB", "stackB"}},
		{"ColdStart", "Time to the first id", "Without a fence, a generator of ours begins one tick later, so its first id waits for up to a millisecond. " +
			"Others begin at once, and two that are made in one millisecond begin with the same id.", []string{"ns/op"}},
	}
}

// chart is one picture: the medians of one benchmark and unit, a bar for each.
type chart struct {
	File, Title, Function, Unit string
	Where                       map[string]string // keys that must have these values
	Group                       string            // the key whose values make the groups
	Line                        string            // the library that is a line across all bars; or none
}

func charts() []chart {
	where := func(kv ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	return []chart{
		{"next", "One id, one goroutine, no cap: ns", "Next", "ns/id", where("mode", "uncapped", "goroutines", "1"), "", "floor-clock"},
		{"next-parallel", "One id, by goroutines on one generator, no cap: ns", "Next", "ns/id", where("mode", "uncapped"), "goroutines", ""},
		{"block", "A block of 1,000 ids, no cap: ns an id", "Block", "ns/id", where("mode", "uncapped"), "", ""},
		{"json", "JSON of 1,000 rows: ns a row", "JSON", "ns/row", nil, "op", ""},
		{"insert", "Inserting 1,000 rows a statement: rows a second", "Insert", "rows/s", where("batch", "1000", "durable", "yes"), "db", ""},
		{"insert-log", "Log written by inserting 1,000 rows a statement: bytes a row", "Insert", "walB/row", where("batch", "1000", "durable", "yes"), "db", ""},
		{"master-detail", "100 parents with 10 children: rows a second", "MasterDetail", "rows/s", where("durable", "yes"), "db", ""},
		{"graph", "GORM, 1,000 parents with 10 children: rows a second", "Graph", "rows/s", nil, "db", ""},
		{"graph-far", "GORM, 100 parents with 10 children, 1 ms a round trip: rows a second", "GraphFar", "rows/s", nil, "db", ""},
		{"load", "pgx, 1,000 parents with 10 children: rows a second", "Load", "rows/s", nil, "delay", ""},
		{"growth-speed", "Speed of inserting at a million rows: rows a second", "Growth", "rows/s", where("rows", "1000000"), "db", ""},
		{"growth-postgres", "Speed of inserting into PostgreSQL as the table grows: rows a second", "Growth", "rows/s", where("db", "postgres"), "rows", ""},
		{"growth-disk", "A table of a million rows with its indexes: bytes a row", "Growth", "diskB/row", where("rows", "1000000"), "db", ""},
	}
}
