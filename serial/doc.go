// Package serial writes IDs as serial numbers that people can read out, counts invoices and
// the like by date, and issues dense ids: 1, 2, 3, …
//
//	payments, err := serial.New(serial.Config{Prefix: "PAY", Separator: "-", Check: serial.Mod97})
//	…
//	text, err := payments.Encode(id) // PAY-20261121073045123-0817-0042-42
//	id, err = payments.Decode(text)
//
//	invoices, err := serial.NewNumbers(serial.NumbersConfig{
//		Prefix: "INV", Separator: "-", Block: 100, Counter: store, // of sqlstore or redisstore
//	})
//	…
//	number, err := invoices.Next(ctx) // INV-20261121-000123
//
//	orders, err := serial.NewSegments(serial.SegmentsConfig{Counter: store, Key: "orders"})
//	…
//	id, err := orders.Next(ctx) // 1, 2, 3, … from blocks, ahead of need
//
// A serial has these parts:
//
//	PAY   20261121073045123   0817     0042       42
//	 │    │                   │        │          └── check characters, with Check
//	 │    │                   │        └── sequence within the tick
//	 │    │                   └── worker ID: datacenter<<WorkerBits | worker
//	 │    └── date and time of the tick in Location, and a digit more with Fold
//	 └── prefix: the business code
//
// # What is guaranteed
//
// Encode and Decode are inverse for every ID of every valid layout, so a table needs
// to store only one of ID and serial. Decode accepts what Encode returns, character by
// character. Any other string is a [*ParseError] that names the part and quotes it.
// DecodeTyped also accepts what people make of a serial when they type it.
//
// All serials of a [Codec] have one width. They sort as strings in the order of their IDs,
// except in the hour that Fold marks.
//
// [Numbers] never issues a number twice in any process, provided the counter's store loses
// no acknowledged write. It never dates a number by a period other than the one that
// counted it. Nor do [Segments] issue an id twice.
//
// # What is not
//
// [Segments] and [Numbers.Next] leave gaps. [Numbers.NextIn] leaves none, but numbers of one key wait for
// each other's transactions.
//
// A time zone whose offset changes within the layout needs Fold. Governments change zones:
// keep the machine's time zone database up to date, or use UTC.
//
// docs/serials.md has the details: zones, check characters and gaps.
//
// Of this module, the package imports core, worker/driver and internal packages.
//
// To read the code, begin with codec.go, encode.go and decode.go, then zone.go for time zones. Numbers is
// in numbers.go, and uses little of these; Segments is in segments.go, and uses none.
package serial
