package readme

import (
	"context"
	"database/sql"

	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// PAY-20261121073045123-0817-0042-42: date and time, worker ID, sequence, check digits.
func paymentCodec() (*serial.Codec, error) {
	return serial.New(serial.Config{Prefix: "PAY", Separator: "-", Check: serial.Mod97})
}

// INV-20261121-000001 and so on, across all processes.
func invoiceNumbers(store *sqlstore.Store) (*serial.Numbers, error) {
	return serial.NewNumbers(serial.NumbersConfig{
		Prefix: "INV", Separator: "-", Block: 100, // one round trip reserves 100
		Counter: store,
	})
}

// Without gaps: the number is taken in the transaction that writes the invoice.
func invoiceNumber(
	ctx context.Context, store *sqlstore.Store, numbers *serial.Numbers, tx *sql.Tx,
) (string, error) {
	return numbers.NextIn(ctx, store.In(tx)) // call store.PrepareCounters once at the start
}

// 1, 2, 3 and so on: a Source of keys, as a generator is.
func ticketIDs(store *sqlstore.Store) (*serial.Segments, error) {
	return serial.NewSegments(serial.SegmentsConfig{Counter: store, Key: "tickets"})
}
