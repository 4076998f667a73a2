package readme

import (
	"context"
	"database/sql"

	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// paymentSerial is PAY-20261121073045123-0817-0042-42: date and time, worker,
// sequence, and two check digits, which catch any wrong or swapped digit.
var paymentSerial = serial.Format{Prefix: "PAY", Separator: "-", Check: true}

// paymentText is a payment's serial.
func paymentText(id int64) (string, error) { return paymentSerial.Encode(id) }

// paymentID reads it back; what is no serial is an error that names the part.
func paymentID(text string) (int64, error) { return paymentSerial.Decode(text) }

// invoiceNumbers gives INV-20261121-000001 and so on, from 1 on each day, over all
// processes; one round trip to the database serves a hundred.
func invoiceNumbers(db *sql.DB) (*serial.Numbers, error) {
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		return nil, err
	}
	return serial.NewNumbers(serial.Numbering{Prefix: "INV", Separator: "-", Block: 100, Counter: store})
}

// invoiceNumber takes one in the transaction that writes the invoice: no gaps.
func invoiceNumber(ctx context.Context, store *sqlstore.Store, numbers *serial.Numbers, tx *sql.Tx) (string, error) {
	return numbers.NextIn(ctx, store.In(tx)) // after store.PrepareCounters at the start
}
