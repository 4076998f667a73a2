package ddl

import "fmt"

// DefaultWorkerTable is the name of the table of leases.
const DefaultWorkerTable = "snow_worker"

// WorkerTable creates the table in which worker numbers are leased, unless it is
// there. It is empty for a Dialect that is none. The columns:
//
//	space       the ids that must be unique together: one layout, one epoch
//	worker      the number, datacenter << WorkerBits | worker
//	token       random, of the holder; empty: free
//	epoch       counts the grants of this number
//	until_ts    the time up to which ids of this number may have been issued, exclusive; never lowered but by its holder
//	expires_at  Unix milliseconds by the server's clock, when another may take the number
//	owner       who the holder says it is, for people to read
//
// Space and worker are the key. In MySQL space and token are ASCII and compared
// byte by byte: the space Orders is not the space orders.
//
// It is the table of the package worker/sqlstore, whose Config.DDL gives the two
// small ones beside it as well: the layouts of the spaces, and counters.
func WorkerTable(d Dialect) string {
	text, err := WorkerTableNamed(d, "", DefaultWorkerTable)
	if err != nil {
		return ""
	}
	return text
}

// WorkerTableNamed is WorkerTable with a name of one's own, and a schema if it is not empty.
func WorkerTableNamed(d Dialect, schema, table string) (string, error) {
	var f faults
	if !d.known() {
		f = append(f, d.fault())
	}
	name := d.object(&f, schema, "table", table)
	if err := f.err(); err != nil {
		return "", err
	}
	text, owner, end := "varchar(64)", "varchar(255)", ""
	if d == MySQL {
		text, end = "varchar(64) CHARACTER SET ascii COLLATE ascii_bin", " ENGINE=InnoDB"
		owner = "varchar(255) CHARACTER SET utf8mb4"
	}
	return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s (
  space %[2]s NOT NULL,
  worker bigint NOT NULL,
  token %[2]s NOT NULL,
  epoch bigint NOT NULL,
  until_ts bigint NOT NULL,
  expires_at bigint NOT NULL,
  owner %[3]s NOT NULL,
  PRIMARY KEY (space, worker)
)%[4]s`, name, text, owner, end), nil
}
