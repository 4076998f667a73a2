// Package graph writes gorm models together with all rows that refer to each other: an order with
// its customer, its lines and their products. All keys and foreign keys come from one
// reservation, so the rows are written in one transaction with one INSERT for each table. The
// handle needs the plugin of package
// [github.com/seed-299c1d6b/snowkey/gormplugin].
//
//	order := &Order{
//		Customer: &Customer{Name: "Ann"},
//		Lines:    []Line{{SKU: "a", Quantity: 2}, {SKU: "b", Quantity: 1}},
//	}
//	if err := graph.Create(ctx, db, order); err != nil {
//		return err // nothing was written, and order has no keys
//	}
//	fmt.Println(order.ID, order.Lines[1].OrderID) // equal
//
// [Assign] only gives keys and foreign keys. [CreateWith] has options, and reports what was
// written.
//
// # Guarantees
//
//   - The graph is all rows that belongs-to, has-one, has-many, many2many and polymorphic
//     relations reach, to any depth. A row that is reached twice is one row.
//   - A row is written after the rows that it refers to. Rows in a cycle are written with NULL in
//     one reference, which one UPDATE for each such row sets at the end.
//   - On an error, nothing is written, and all keys and foreign keys that were set are reset. The
//     one exception is [ErrOutcomeUnknown]: COMMIT was sent and not answered, and the keys stay,
//     so that a second Create with DoNothing writes no row twice.
//   - After a deadlock or a serialization failure, the transaction begins again with the same
//     keys, after a pause. See [Config].
//   - Hooks, times, default values, serializers, prepared statements, DryRun, Select, Omit and
//     clauses work as in gorm's Create.
//   - Parents and the far sides of many2many are written in the order of their unique columns, so
//     that concurrent creates rarely deadlock.
//
// # Limits
//
//   - In a transaction of the caller, nothing is retried, and rolling back leaves the keys in the
//     structs.
//   - Hooks run again with each attempt.
//   - Select and Omit must be set on the handle, not in a scope or a hook.
//   - A cycle of foreign keys that may not be NULL is a [*CycleError].
//
// The page docs/graphs.md of the repository has the rules for existing rows, order, hooks and
// retries.
package graph
