package report

// section is a part of the report: one benchmark, what it is, and which of its
// figures stand in tables, in their order. The raw text has all of them.
type section struct {
	Function, Title, About string
	Units                  []string
}

func sections() []section {
	return []section{
		{"Next", "One id at a time", "`mode=capped`: each library's own layout, at most 4096 ids a millisecond in most, which is 244.1 ns an id; " +
			"`mode=sonyflake`: 256 in 10 ms, 39,062 ns. `mode=uncapped`: a sequence of 20 bits, and keys that have none. All goroutines draw from one generator; cpu-% of one core is what it takes while it waits.",
			[]string{"ns/id", "cpu-%", "allocs/op"}},
		{"Processors", "One id at a time, by the number of processors", "`go test -cpu 1,2,4,8`: one goroutine for each, also where the machine has fewer.", []string{"ns/op"}},
		{"Block", "A block of 1,000 ids", "Ours is one call; the others have none and are asked 1,000 times.", []string{"ns/id", "allocs/op"}},
		{"JSON", "JSON of 1,000 rows with two ids each", "encoding/json. A snowflake as a number would not survive JavaScript; `floor-string` holds texts.",
			[]string{"ns/row", "allocs/op"}},
		{"Value", "database/sql: an id as an argument", "", []string{"ns/op", "allocs/op"}},
		{"Scan", "database/sql: an id from a row", "", []string{"ns/op", "allocs/op"}},
		{"PgxEncode", "pgx: encode", "No server: the plan for a value, or an array of 1,000.", []string{"ns/op", "allocs/op"}},
		{"PgxScan", "pgx: scan", "", []string{"ns/op", "allocs/op"}},
		{"PgxCopy", "pgx: COPY of 10,000 rows with two keys", "", []string{"rows/s", "allocs/op"}},
		{"Insert", "Inserting rows", "Plain SQL, one transaction for each INSERT, `batch` rows in each, until there are 1,000, 10,000 or 20,000 rows: that is one op. A table with a key and three other columns, filled from empty.",
			[]string{"rows/s", "stmts/op", "walB/row", "keyB/row", "diskB/row"}},
		{"SQLiteKeys", "Forms of a key in SQLite", "A key, a number and a text, 100 rows an INSERT and transaction, which the disk need not have. Snowflakes but for `auto` and `autoincrement`. `before` is a bigint with an index, " +
			"`snowkey` what AutoMigrate makes with the plugin, `snowkey-wide` what it makes where rows may be long. `rowid` accepts a row without a key, and `trigger` is that with a trigger against it.",
			[]string{"rows/s", "cpu-rows/s", "diskB/row"}},
		{"MasterDetail", "Inserting masters with details", "100 masters with 10 details each in one transaction: one INSERT for each table. An auto-increment key is read back by RETURNING.",
			[]string{"rows/s", "stmts/op", "walB/row", "diskB/row"}},
		{"Graph", "GORM: masters with details", "1,000 masters with 10 details each in one transaction, keys made within.", []string{"rows/s", "stmts/op", "allocs/op"}},
		{"GraphFar", "GORM: masters with details, behind a network", "100 masters with 10 details each; a round trip takes 1 ms.",
			[]string{"rows/s", "stmts/op"}},
		{"Load", "pgx: masters with details", "1,000 masters with 10 details each in one transaction, and the same behind a network of 1 ms a round trip.",
			[]string{"rows/s", "allocs/op"}},
		{"Growth", "A growing table", "Rows are added until there are `rows`; the speed is that of the last stretch, the sizes are the whole table's.",
			[]string{"rows/s", "keyB/row", "diskB/row", "walB/row"}},
		{"Memory", "Memory", "What stays on the heap of one of each, and on the stacks of its goroutines.", []string{"heapB", "stackB"}},
		{"ColdStart", "From nothing to the first id", "A generator of ours begins one tick after the one it was made in, so its first id waits for up to a millisecond; " +
			"others begin at once, and two that are made in one millisecond begin with the same id.", []string{"ns/op"}},
	}
}

// chart is one picture: the medians of one benchmark and unit, a bar for each.
type chart struct {
	File, Title, Function, Unit string
	Where                       map[string]string // keys that must have these values
	Group                       string            // the key whose values make the groups
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
		{"next", "One id, one goroutine, no cap: ns", "Next", "ns/id", where("mode", "uncapped", "goroutines", "1"), ""},
		{"next-parallel", "One id, by goroutines on one generator, no cap: ns", "Next", "ns/id", where("mode", "uncapped"), "goroutines"},
		{"block", "A block of 1,000 ids, no cap: ns an id", "Block", "ns/id", where("mode", "uncapped"), ""},
		{"json", "JSON of 1,000 rows: ns a row", "JSON", "ns/row", nil, "op"},
		{"insert", "Inserting 1,000 rows a statement: rows a second", "Insert", "rows/s", where("batch", "1000", "durable", "yes"), "db"},
		{"insert-log", "Log written by inserting 1,000 rows a statement: bytes a row", "Insert", "walB/row", where("batch", "1000", "durable", "yes"), "db"},
		{"master-detail", "100 masters with 10 details: rows a second", "MasterDetail", "rows/s", where("durable", "yes"), "db"},
		{"graph", "GORM, 1,000 masters with 10 details: rows a second", "Graph", "rows/s", nil, "db"},
		{"graph-far", "GORM, 100 masters with 10 details, 1 ms a round trip: rows a second", "GraphFar", "rows/s", nil, "db"},
		{"load", "pgx, 1,000 masters with 10 details: rows a second", "Load", "rows/s", nil, "delay"},
		{"growth-speed", "Speed of inserting at a million rows: rows a second", "Growth", "rows/s", where("rows", "1000000"), "db"},
		{"growth-postgres", "Speed of inserting into PostgreSQL as the table grows: rows a second", "Growth", "rows/s", where("db", "postgres"), "rows"},
		{"growth-disk", "A table of a million rows with its indexes: bytes a row", "Growth", "diskB/row", where("rows", "1000000"), "db"},
	}
}
