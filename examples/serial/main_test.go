package main

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/serial"
)

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// The output with GORM, but for the times.
const want = `Payments:
  PAY-… is id N
  PAY-… is id N
  PAY-… is id N
  by its serial: 99 cents

Invoices, numbered in the transaction that writes them:
  INV-20261121-000001 of 1250 cents: written
  INV-20261121-000002 of 0 cents: rolled back, constraint failed: CHECK constraint failed: chk_invoices_cents (275)
  INV-20261121-000002 of 99 cents: written
`

func TestGORM(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, noon); err != nil {
		t.Fatal(err)
	}
	if got := regexp.MustCompile(`PAY-\d{17}-0001-\d{4}-\d\d is id \d+`).ReplaceAllString(out.String(), "PAY-… is id N"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The tags' sizes are the widths that the formats have.
func TestColumnWidth(t *testing.T) {
	numbers, err := serial.NewNumbers(invoiceNumbers(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	if payments.Width() != 34 || numbers.Width() != 19 {
		t.Errorf("%d, %d", payments.Width(), numbers.Width())
	}
}
