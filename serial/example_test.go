package serial_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const payment = 2124042817363972138 // from a generator

func ExampleNew() {
	payments, err := serial.New(serial.Config{Prefix: "PAY", Separator: "-", Check: serial.Mod97})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := payments.Encode(payment)
	fmt.Println(text, err)
	id, err := payments.Decode(text)
	fmt.Println(id, err)
	// Output:
	// PAY-20261121073045123-0817-0042-42 <nil>
	// 2124042817363972138 <nil>
}

func ExampleCodec_Encode() {
	shanghai := time.FixedZone("CST", 8*3600) // or time.LoadLocation("Asia/Shanghai")
	for _, cfg := range []serial.Config{
		{Prefix: "PAY", Location: shanghai, Check: serial.Mod1110},
		{Layout: core.Sonyflake(), Separator: "."}, // the sequence before the worker, as in the layout
	} {
		c, err := serial.New(cfg)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(c.Encode(payment))
	}
	// Output:
	// PAY20261121153045123081700420 <nil>
	// 20541014022936160.179.04138 <nil>
}

func ExampleCodec_Decode() {
	c, err := serial.New(serial.Config{Prefix: "PAY"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Decode("PAY2026113107304512308170042")
	fmt.Println(err)
	id, err := c.Decode("PAY2026112107304512308170042")
	parts, errParts := c.Config().Layout.Decode(id)
	fmt.Println(parts.Time, parts.Datacenter, parts.Worker, parts.Sequence, err, errParts)
	// Output:
	// serial: "PAY2026113107304512308170042": the time "20261131073045123": there is no such date
	// 2026-11-21 07:30:45.123 +0000 UTC 25 17 42 <nil> <nil>
}

// noon replaces the clock.
func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func ExampleNewNumbers() {
	var store serial.Counter = &counter{} // sqlstore.New(db, sqlstore.Config{})
	invoices, err := serial.NewNumbers(serial.NumbersConfig{Prefix: "INV", Separator: "-", Block: 100, Counter: store, Now: noon})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(invoices.Next(context.Background()))
	_, err = serial.NewNumbers(serial.NumbersConfig{Prefix: "INV", Digits: 2, Block: 100})
	fmt.Println(err)
	// Output:
	// INV-20261121-000001 <nil>
	// serial: Block 100: must be 1 to 99, the greatest number of the Digits
}

func ExampleNumbers_Next() {
	n, err := serial.NewNumbers(serial.NumbersConfig{Prefix: "ORD", Period: serial.Month, Digits: 4, Counter: &counter{}, Now: noon})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		fmt.Println(n.Next(context.Background()))
	}
	// Output:
	// ORD2026110001 <nil>
	// ORD2026110002 <nil>
}

func ExampleNumbers_NextIn() {
	store := &counter{}
	n, err := serial.NewNumbers(serial.NumbersConfig{Prefix: "INV", Period: serial.Year, Counter: store, Now: noon})
	if err != nil {
		fmt.Println(err)
		return
	}
	inTx := store // store.In(tx) of sqlstore, where tx is the transaction that writes the invoice
	fmt.Println(n.NextIn(context.Background(), inTx))
	// Output: INV2026000001 <nil>
}

func ExampleCodec_DecodeTyped() {
	c, err := serial.New(serial.Config{Prefix: "PAY", Separator: "-", Check: serial.Mod97})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := c.DecodeTyped("pay 20261121 o73o45123 – 0817 0042 42")
	written, errWritten := c.Encode(id)
	fmt.Println(written, err, errWritten)
	// Output: PAY-20261121073045123-0817-0042-42 <nil> <nil>
}

func ExampleNumbers_ParseTyped() {
	n, err := serial.NewNumbers(serial.NumbersConfig{Prefix: "INV", Separator: "-"})
	if err != nil {
		fmt.Println(err)
		return
	}
	day, number, err := n.ParseTyped("inv 2026 1121 000123")
	fmt.Println(day.Format(time.DateOnly), number, err)
	// Output: 2026-11-21 123 <nil>
}

func ExampleNumbers_Format() {
	n, err := serial.NewNumbers(serial.NumbersConfig{Prefix: "INV", Separator: "/", Period: serial.Year, Digits: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n.Format(noon(), 42))
	fmt.Println(n.Format(noon(), 10_000))
	// Output:
	// INV/2026/0042 <nil>
	//  serial: number 10000: must be 1 to 9999, the greatest number of 4 digits
}

func ExampleNumbers_Parse() {
	n, err := serial.NewNumbers(serial.NumbersConfig{Prefix: "INV", Separator: "-"})
	if err != nil {
		fmt.Println(err)
		return
	}
	day, number, err := n.Parse("INV-20261121-000123")
	fmt.Println(day.Format(time.DateOnly), number, err)
	_, _, err = n.Parse("INV-20261121-123")
	fmt.Println(err)
	// Output:
	// 2026-11-21 123 <nil>
	// serial: "INV-20261121-123": the length "16": must be 19
}

// A function can be a Counter: here one statement in a transaction of pgx.
func ExampleCounterFunc_Reserve() {
	last := int64(0)
	c := serial.CounterFunc(func(ctx context.Context, key string, n int64) (int64, error) {
		last += n // tx.QueryRow(ctx, statement, key, n).Scan(&last), see sqlstore.Config.ReserveSQL
		return last - n + 1, nil
	})
	fmt.Println(c.Reserve(context.Background(), "20261121:INV", 10))
	// Output: 1 <nil>
}

func ExampleNewSegments() {
	var store serial.Counter = &counter{} // sqlstore.New(db, sqlstore.Config{})
	orders, err := serial.NewSegments(serial.SegmentsConfig{Counter: store, Key: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sqltype.NextID(context.Background(), orders)) // it is a Source, as a generator is
	_, err = serial.NewSegments(serial.SegmentsConfig{Counter: store, Key: "orders of May", Block: -1})
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// serial: Key "orders of May": must have at most 32 ASCII letters, digits and . _ - /, and at least one; Block -1: must be 1 to 1099511627776
}

// This store has counted to 41.
func ExampleSegments_Next() {
	store := &counter{at: map[string]int64{"orders": 41}}
	s, err := serial.NewSegments(serial.SegmentsConfig{Counter: store, Key: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		fmt.Println(s.Next(context.Background()))
	}
	// Output:
	// 42 <nil>
	// 43 <nil>
}

func ExampleSegments_Fill() {
	s, err := serial.NewSegments(serial.SegmentsConfig{Counter: &counter{}, Key: "orders", Block: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]int64, 5) // one request, though they are more than a Block
	err = s.Fill(context.Background(), ids)
	fmt.Println(ids, err)
	// Output: [1 2 3 4 5] <nil>
}
