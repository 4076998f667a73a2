// Package graph writes gorm models together with all rows that refer to each other: an order with
// its customer, its lines and their products, in one transaction with one INSERT for each table.
// The handle needs the plugin of package [github.com/seed-299c1d6b/snowkey/gormplugin].
//
//	order := &Order{
//		Customer: &Customer{Name: "Ann"},
//		Lines:    []Line{{SKU: "a", Quantity: 2}, {SKU: "b", Quantity: 1}},
//	}
//	if err := graph.Create(ctx, db, order); err != nil {
//		return err // nothing was written, and order is what it was
//	}
//	fmt.Println(order.ID, order.Lines[1].OrderID) // equal
//
// The graph is all rows that belongs-to, has-one, has-many, many2many and polymorphic relations
// reach, to any depth. A row that is reached twice is one row, and is written after those it refers to.
// Hooks, times, default values, serializers, prepared statements, DryRun and clauses work as in
// gorm's Create. Parents and the far sides of many2many are written in the order of their unique
// columns, so that concurrent creates rarely deadlock.
//
// # Limits
//
//   - BeforeCreate of a row runs after its parents are written: its changes to them are lost.
//     AfterCreate runs before the children are written. A hook that adds or removes associated rows
//     is an error.
//   - Select, Omit and conflict clauses apply to the given rows, and must be set on the handle.
//   - Rows in a cycle are a [*CycleError].
//   - In a transaction of the caller, nothing is retried, and a rollback leaves the keys set.
//
// The code reads in this order: create, graph, model, assign, order, write, chunk, transaction.
package graph
