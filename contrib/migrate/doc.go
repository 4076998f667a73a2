// Package migrate changes the key of a table of PostgreSQL while programs read and write it: from an
// integer to a bigint, from a UUID to an id, or from a sequence to a generator in SQL:
//
//	cfg := migrate.Config{Kind: migrate.Bigint, Table: "orders"}
//	plan, err := migrate.Inspect(ctx, db, cfg)
//	if err != nil {
//		return err
//	}
//	fmt.Print(plan)
//	result, err := migrate.Run(ctx, db, cfg)
//
// Inspect plans, and Run does the steps. Each step has its statements, its lock and how long that is
// held, a check, and a way back. docs/migrate.md in the repository explains them. The command
// snowkey migrate does both.
//
// # What is guaranteed
//
// No row is lost, the migration gives no key twice, and references follow their rows. A step stops
// writers for at most Config.LockTimeout, while it waits for its locks, and then for at most
// Config.HoldTimeout, whatever the size of the table. Run reads from the schema what is done, so
// after a crash another Run continues.
//
// A table with a feature that was not tested is refused with a *core.ConfigError, before anything
// is changed. A *DependentsError has the statements that drop what depends on the columns, and
// those that create it again. UPDATE triggers of the tables do not fire for rows that are filled.
package migrate
