// Package pgxload writes rows of many tables to PostgreSQL in one transaction, by COPY, and retries
// transactions.
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
// go to PostgreSQL in chunks while the function runs, so there may be more of them than fit into memory.
// If PostgreSQL refuses a row, the error names its table and its number, and nothing is in the database.
//
// [Retry] runs a transaction again after a conflict or a lost connection, and so a Load in it.
package pgxload
