// Package pgxload writes rows of many tables to PostgreSQL with COPY in one transaction. It also has
// [Retry], because Load and Retry end a transaction in the same way: only they tell a refused COMMIT
// from one whose outcome is unknown.
//
//	loaded, err := pgxload.Load(ctx, pool, func(w *pgxload.Writer) error {
//		orders := w.Table("orders", "id", "note")
//		lines := w.Table("order_lines", "id", "order_id", "sku")
//		for _, o := range input {
//			orders.Row(o.ID, o.Note)
//			for _, l := range o.Lines {
//				lines.Row(l.ID, o.ID, l.SKU)
//			}
//		}
//		return nil
//	})
//
// The caller assigns keys beforehand (see sqltype.Assign), or takes them from [Writer.NextID]. The rows
// go to PostgreSQL in chunks while the function runs, so there may be more rows than fit into memory.
// If PostgreSQL refuses a row, nothing is stored, and the error names the table and, if known, the row.
//
// [Retry] runs a transaction, with any Load in it, again after a conflict or a lost connection.
//
// The code reads in this order: load, transaction, writer, table, columns, encode, strict, send, conflict,
// errors, retry.
package pgxload
