package readme

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// The id of paymentCodec in Vienna, as docs/serials.md shows it. The 0 after the time is of Fold.
func viennaCodec() (*serial.Codec, error) {
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		return nil, err
	}
	return serial.New(serial.Config{Prefix: "PAY", Separator: "-", Location: vienna, Fold: true, Check: serial.Mod97})
}

func TestSerials(t *testing.T) {
	const id = 2124042817363972138
	for want, open := range map[string]func() (*serial.Codec, error){
		"PAY-20261121073045123-0817-0042-42": paymentCodec, "PAY-202611210830451230-0817-0042-70": viennaCodec,
	} {
		codec, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := codec.Encode(id); err != nil || text != want {
			t.Errorf("%q, %v, want %s", text, err, want)
		}
		if got, err := codec.Decode(want); err != nil || got != id {
			t.Errorf("%d, %v", got, err)
		}
	}
}

func TestInvoiceNumbers(t *testing.T) {
	db := openSQL(t)
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := invoiceNumbers(store)
	if err != nil {
		t.Fatal(err)
	}
	first, err := numbers.Next(t.Context())
	if err != nil || !strings.HasSuffix(first, "-000001") {
		t.Errorf("%q, %v", first, err)
	}
	if err := store.PrepareCounters(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // rolled back, it is given again; a block of 100 has been taken before
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		number, err := invoiceNumber(t.Context(), store, numbers, tx)
		want := strings.TrimSuffix(first, "000001") + "000101"
		nextDay := strings.HasSuffix(number, "-000001") && number > want // it began meanwhile
		if err != nil || number != want && !nextDay {
			t.Errorf("%q, %v, want %s", number, err, want)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTicketIDs(t *testing.T) {
	store, err := sqlstore.New(openSQL(t), sqlstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	tickets, err := ticketIDs(store)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, 3)
	if err := tickets.Fill(t.Context(), ids); err != nil || ids[0] != 1 || ids[2] != 3 {
		t.Errorf("%d, %v", ids, err)
	}
}
