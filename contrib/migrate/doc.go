// Package migrate makes an integer key of PostgreSQL a bigint, with all columns that refer to it, while
// programs read and write the tables:
//
//	cfg := migrate.Config{Table: "orders"}
//	plan, err := migrate.Inspect(ctx, db, cfg)
//	if err != nil {
//		return err
//	}
//	fmt.Print(plan)
//	result, err := migrate.Run(ctx, db, cfg)
//
// Inspect plans the steps, and Run does them. Each step has statements, a lock, and a check.
// docs/migrate.md in the repository explains them. The command snowkey migrate bigint does both.
//
// # What is guaranteed
//
// No row is lost, no key changes, and references follow their rows. A step stops writers for at most
// Config.LockTimeout, while it waits for its locks, and then for at most Config.HoldTimeout, whatever
// the size of the table. Run reads from the schema which steps are done, so after a crash another Run
// continues.
//
// If something would not survive the migration, Run changes nothing, and returns a *core.ConfigError that
// names it: Inspect asks the catalog for everything that depends on the tables, their rows and their
// columns, and accepts only what it knows. UPDATE triggers of the tables do not fire for filled rows.
//
// # What is not
//
// The order of columns changes. Programs outside the database are not checked: a COPY or an INSERT
// without a list of columns fails, or sets the wrong columns.
//
// To read the code, begin with plan.go and run.go, then session.go, attempt.go and fill.go, which run the steps.
// catalog.go and members.go find the columns, refuse.go what stands in the way, steps.go and swap.go the steps.
package migrate
