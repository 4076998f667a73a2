package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"

	"github.com/seed-299c1d6b/snowkey/serial"
)

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// The output with GORM, but for the times.
const want = `Payments:
  PAY-D-0001-0000-CC is id N
  PAY-D-0001-0001-CC is id N
  PAY-D-0001-0002-CC is id N
  by its serial: 99 cents

Invoices, numbered in the transaction that writes them:
  INV-20261121-000001 of 1250 cents: written
  INV-20261121-000002 of 0 cents: rolled back, constraint failed: CHECK constraint failed: chk_invoices_cents (275)
  INV-20261121-000002 of 99 cents: written
  kept: [INV-20261121-000001 INV-20261121-000002]

Orders, in blocks of 100: 250 numbers up to ORD-202611-00000250 took 3 round trips
`

var payment = regexp.MustCompile(`PAY-\d{17}-0001-(\d{4})-\d\d is id \d+`)

func TestGORM(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, options{worker: 1, now: noon}); err != nil {
		t.Fatal(err)
	}
	shop, typed, _ := strings.Cut(out.String(), "\nMistyped:\n")
	shop = payment.ReplaceAllString(shop, "PAY-D-0001-$1-CC is id N")
	if got := sequences.ReplaceAllString(shop, "0000"); got != sequences.ReplaceAllString(want, "0000") {
		t.Errorf("got\n%s\nwant\n%s", shop, want)
	}
	lines := strings.Split(strings.TrimSpace(typed), "\n")
	for i, piece := range []string{`the prefix "pay": must be "PAY"`, `the length "33": must be 34`, "the check", "the check", "the check"} {
		if i >= len(lines) || !strings.Contains(lines[i], piece) {
			t.Fatalf("line %d lacks %s:\n%s", i, piece, typed)
		}
	}
}

// sequences begin anew where a millisecond ends between two payments.
var sequences = regexp.MustCompile(`000[0-2]-CC`)

func TestRead(t *testing.T) {
	var out bytes.Buffer
	err := read(&out, []string{"PAY-20261121073045123-0817-0042-42", "PAY-20261121073045123-0817-0042-24", "x"})
	if err == nil || out.String() != "PAY-20261121073045123-0817-0042-42 is id 2124042817363972138 of 2026-11-21 07:30:45.123 UTC, datacenter 25, worker 17, sequence 42\n" ||
		!strings.Contains(err.Error(), `the check "24"`) || !strings.Contains(err.Error(), `the prefix "x"`) {
		t.Errorf("%v, %s", err, &out)
	}
}

func TestBadArguments(t *testing.T) {
	for want, opt := range map[string]options{
		"-worker 5000":     {worker: 5000, now: noon},
		"cannot parse `no": {dsn: "no://such", now: noon},
	} {
		if err := run(t.Context(), io.Discard, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestPgx(t *testing.T) {
	dsn := fresh(t, testserver.Postgres(t).DSN)
	for _, first := range []string{"000001", "000003"} {
		var out bytes.Buffer
		if err := run(t.Context(), &out, options{worker: 1, dsn: dsn, lossy: true, now: noon}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"1000 by COPY, the last is PAY-", "-" + first + " of 1250 cents: written", "serial_invoices_cents_check", "took 3 round trips", "Mistyped:"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the output lacks %q:\n%s", want, &out)
			}
		}
	}
}

// fresh makes a database that is dropped after the test.
func fresh(t *testing.T, dsn string) string {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("serial_%d", admin.PgConn().PID())
	if _, err := admin.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		_ = admin.Close(context.Background())
	})
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
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
