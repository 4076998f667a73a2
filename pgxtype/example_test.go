package pgxtype_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func ExampleAfterConnect() {
	config, err := pgxpool.ParseConfig("postgres://app@db.example/shop?default_query_exec_mode=exec")
	if err != nil {
		fmt.Println(err)
		return
	}
	config.AfterConnect = pgxtype.AfterConnect // every new connection knows the ids
	// Next: pool, err := pgxpool.NewWithConfig(ctx, config)
	fmt.Println(config.AfterConnect != nil, config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeExec)
	// Output: true true
}

func ExampleRegister() {
	m := pgtype.NewMap() // or conn.TypeMap()
	pgxtype.Register(m)

	// A list of ids as the parameter of id = ANY($1).
	b, err := m.Encode(pgtype.Int8ArrayOID, pgtype.TextFormatCode, []sqltype.ID{7, 8}, nil)
	fmt.Println(string(b), err)

	var parent sqltype.NullID
	err = m.Scan(pgtype.Int8OID, pgtype.TextFormatCode, nil, &parent)
	fmt.Println(parent, err)

	var id sqltype.ID
	fmt.Println(m.Scan(pgtype.Int8OID, pgtype.TextFormatCode, nil, &id))
	// Output:
	// {7,8} <nil>
	// NULL <nil>
	// pgxtype: scan: NULL fits no ID and no Key: use a sqltype.NullID, a sqltype.NullKey or a pointer
}

func ExampleRegister_keys() {
	m := pgtype.NewMap() // or conn.TypeMap()
	pgxtype.Register(m)  // once, for the keys of every type
	key := sqltype.Key[Customer](1996573624012345677)

	number, err := m.Encode(pgtype.Int8OID, pgtype.TextFormatCode, key, nil)
	fmt.Println(string(number), err)
	array, err := m.Encode(pgtype.Int8ArrayOID, pgtype.TextFormatCode, []sqltype.Key[Customer]{key, 7}, nil)
	fmt.Println(string(array), err)
	json, err := m.Encode(pgtype.JSONBOID, pgtype.TextFormatCode, key, nil)
	fmt.Println(string(json), err)
	// Output:
	// 1996573624012345677 <nil>
	// {1996573624012345677,7} <nil>
	// "cus_1qda147xjq4ad" <nil>
}

// Customer declares that the text of its keys has a prefix.
type Customer struct{ ID sqltype.Key[Customer] }

func (*Customer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "cus"} }

func ExampleRegisterKey() {
	m := pgtype.NewMap()
	pgxtype.RegisterKey[Customer](m)

	// With database/sql: db.QueryRowContext(ctx, query).Scan(m.SQLScanner(&keys))
	var keys []sqltype.Key[Customer]
	err := m.SQLScanner(&keys).Scan("{7,8}")
	fmt.Println(keys, err)
	// Output: [cus_0000000000007 cus_0000000000008] <nil>
}

// offline is a pool whose server cannot be reached.
type offline struct{}

var errOffline = errors.New("no server here")

func (offline) Begin(context.Context) (pgx.Tx, error) { return nil, errOffline }

func (offline) BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error) { return nil, errOffline }

type (
	Invoice struct {
		ID    sqltype.ID
		Note  string
		Items []Item
	}
	Item struct {
		ID, InvoiceID sqltype.ID
		Article       string
	}
)

// invoiceTables says what the rows of an invoice are: parents first.
func invoiceTables() []pgxtype.Table[Invoice] {
	return []pgxtype.Table[Invoice]{
		pgxtype.ParentTable(pgx.Identifier{"shop", "invoices"}, []string{"id", "note"},
			func(i *Invoice, row []any) []any { return append(row, &i.ID, &i.Note) }),
		pgxtype.ChildTable(pgx.Identifier{"shop", "items"}, []string{"id", "invoice_id", "article"},
			func(i *Invoice) []Item { return i.Items },
			func(it *Item, row []any) []any { return append(row, &it.ID, &it.InvoiceID, &it.Article) }),
	}
}

func ExampleLoad() {
	var pool offline // a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx
	invoices := []Invoice{{ID: 1, Note: "two teas", Items: []Item{{2, 1, "TEA-1"}, {3, 1, "TEA-2"}}}}

	loaded, err := pgxtype.Load(context.Background(), pool, pgxtype.Seq(slices.Values(invoices)), pgxtype.LoadConfig[Invoice]{
		Tables:   invoiceTables(),
		Progress: func(l pgxtype.Loaded) { fmt.Println(l.Rows, "rows sent") },
	})
	var at *pgxtype.LoadError
	switch {
	case err == nil:
		fmt.Println(loaded.Parents, "invoices,", loaded.Rows, "rows")
	case errors.As(err, &at):
		fmt.Println("row", at.Row, "of", at.Table.Sanitize(), "is at fault:", at.Err)
	case errors.Is(err, pgxtype.ErrOutcomeUnknown):
		fmt.Println("are they there? look for", invoices[0].ID)
	default:
		fmt.Println(err)
	}
	// Output: pgxtype: load: begin: no server here
}

func ExampleParentTable() {
	// Errors of a table are reported before a transaction begins.
	_, err := pgxtype.Load(context.Background(), offline{}, pgxtype.Seq(slices.Values([]Invoice{})), pgxtype.LoadConfig[Invoice]{
		Tables: []pgxtype.Table[Invoice]{pgxtype.ParentTable[Invoice](pgx.Identifier{"invoices"}, []string{"id", "id"}, nil)},
	})
	fmt.Println(err)
	// Output: pgxtype: Tables[0].values nil: is required; Tables[0].columns[1] "id": must be unique
}

func ExampleChildTable() {
	items := pgxtype.ChildTable(pgx.Identifier{"items"}, []string{"id", "invoice_id"}, func(i *Invoice) []Item { return i.Items },
		func(it *Item, row []any) []any { return append(row, &it.ID, &it.InvoiceID) })

	_, err := pgxtype.Load(context.Background(), offline{}, pgxtype.Seq(slices.Values([]Invoice{})), pgxtype.LoadConfig[Invoice]{
		Tables: []pgxtype.Table[Invoice]{items},
	})
	fmt.Println(err)
	// Output: pgxtype: load: begin: no server here
}

func ExampleNested() {
	// Three levels: the items of a customer's invoices.
	type customer struct {
		ID       sqltype.ID
		Invoices []Invoice
	}
	invoices := func(c *customer) []Invoice { return c.Invoices }
	tables := []pgxtype.Table[customer]{
		pgxtype.ParentTable(pgx.Identifier{"customers"}, []string{"id"}, func(c *customer, row []any) []any { return append(row, &c.ID) }),
		pgxtype.ChildTable(pgx.Identifier{"invoices"}, []string{"id"}, invoices, func(i *Invoice, row []any) []any { return append(row, &i.ID) }),
		pgxtype.Nested(invoices, pgxtype.ChildTable(pgx.Identifier{"items"}, []string{"id", "invoice_id"}, func(i *Invoice) []Item { return i.Items },
			func(it *Item, row []any) []any { return append(row, &it.ID, &it.InvoiceID) })),
	}

	_, err := pgxtype.Load(context.Background(), offline{}, pgxtype.Seq(slices.Values([]customer{})), pgxtype.LoadConfig[customer]{Tables: tables})
	fmt.Println(err)
	// Output: pgxtype: load: begin: no server here
}

func ExampleTable_OnConflict() {
	// A file is loaded again: existing invoices are skipped.
	invoices := pgxtype.ParentTable(pgx.Identifier{"invoices"}, []string{"id"}, func(i *Invoice, row []any) []any { return append(row, &i.ID) }).
		OnConflict(pgxtype.Conflict{Key: []string{"id"}})

	_, err := pgxtype.Load(context.Background(), offline{}, pgxtype.Seq(slices.Values([]Invoice{})), pgxtype.LoadConfig[Invoice]{
		Tables: []pgxtype.Table[Invoice]{invoices},
	})
	fmt.Println(err)
	// Output: pgxtype: load: begin: no server here
}

func ExampleChildTableSeq() {
	// One batch whose rows come from elsewhere, one at a time.
	type batch struct{ ID sqltype.ID }
	rows := func(b *batch) iter.Seq2[Item, error] {
		return func(yield func(Item, error) bool) {
			for n := range sqltype.ID(1_000_000) {
				if !yield(Item{ID: b.ID + 1 + n, InvoiceID: b.ID}, nil) {
					return
				}
			}
		}
	}
	table := pgxtype.ChildTableSeq(pgx.Identifier{"items"}, []string{"id", "invoice_id"}, rows,
		func(it *Item, row []any) []any { return append(row, &it.ID, &it.InvoiceID) })

	_, err := pgxtype.Load(context.Background(), offline{}, pgxtype.Seq(slices.Values([]batch{{ID: 1}})), pgxtype.LoadConfig[batch]{
		Tables: []pgxtype.Table[batch]{table},
	})
	fmt.Println(err)
	// Output: pgxtype: load: begin: no server here
}

func ExampleSeq() {
	for v, err := range pgxtype.Seq(slices.Values([]string{"a", "b"})) {
		fmt.Println(v, err)
	}
	// Output:
	// a <nil>
	// b <nil>
}

func ExampleRetry() {
	ctx := context.Background()
	var pool offline               // a *pgxpool.Pool or a *pgx.Conn
	invoices := []Invoice{{ID: 1}} // the keys are assigned before, so each attempt writes the same rows

	err := pgxtype.Retry(ctx, pool, pgxtype.RetryConfig{
		Tx: pgx.TxOptions{IsoLevel: pgx.Serializable},
	}, func(tx pgx.Tx) error {
		_, err := pgxtype.Load(ctx, tx, pgxtype.Seq(slices.Values(invoices)), pgxtype.LoadConfig[Invoice]{Tables: invoiceTables()})
		return err
	})
	fmt.Println(err)
	// Output: pgxtype: Retry: attempt 1 of 5: begin: no server here
}
