// Package serial writes ids as business serials, as payments and orders have them,
// and reads them back; and it numbers invoices and the like by date.
//
//	payments, err := serial.New(serial.Format{Prefix: "PAY", Separator: "-", Check: true})
//	…
//	text, err := payments.Encode(id) // PAY-20261121073045123-0817-0042-42
//	id, err = payments.Decode(text)
//
//	PAY   20261121073045123   0817     0042       42
//	 │    │                   │        │          └── check characters, if asked for
//	 │    │                   │        └── sequence within the tick
//	 │    │                   └── worker: datacenter<<WorkerBits | worker
//	 │    └── the tick's date and time to the millisecond in Location, with Fold a digit more
//	 └── prefix: the business code
//
// A serial is another way to write the id and nothing besides: date, worker and
// sequence come from the same number, so they cannot disagree, and the id need not be
// stored for the serial, nor the serial for the id.
//
// # What is guaranteed
//
// Encode and Decode are each other's inverse, for every id of every valid layout:
// all its fields, from its first tick to its last. All serials of one [Format] have
// the same width, [Format.Width], which follows from the layout: each field takes as
// many digits as its greatest value, and the year as many as the layout's last, at
// least four. A field of no bits is left out. Roll-back, where the layout has it,
// stands before the worker; where the layout has the sequence first, so has the serial.
//
// Decode takes what Encode gives, to the letter: no other case, no spaces, no missing
// zeros, no date that does not exist, no time at which no tick begins. All else is a
// [ParseError] that names the part and quotes it. A prefix may end in digits or have
// the separator in it: places are told by their width, not by what stands there.
//
// # Order
//
// Where the zone's offset does not change, which is always so without Fold, serials
// of one Format sort as text, byte by byte, exactly as their ids do as numbers: by
// time first, then by what follows in the layout. Ids of an Unsigned layout sort so
// as uint64. With Fold they sort as a clock on the wall goes: in the hour that clocks
// repeat, first all that it shows at 02:00 and then all at 02:01, of either pass.
//
// # Zones
//
// An offset that changes makes a time come twice. So a zone whose offset changes
// anywhere between the layout's first tick and its last is refused, as far as the
// machine's time zone database knows: [time.Time.ZoneBounds] is followed from change
// to change, to the end. Europe/Berlin changes, Asia/Shanghai has not since 1991. UTC
// and [time.FixedZone] never do. [Format].Fold takes any zone, at the price of a digit
// behind the time: 0, or how often clocks have shown that time before. It serves every
// change, of an hour, of half of one, or of a day.
//
// Rules for the future are changed by governments. A serial made under rules that
// were changed before its time came is then another time's. Serials carry the time
// at which they were made, so that concerns only a machine whose database is older than
// the change: keep it up to date, or take UTC, or a zone that has no summer time.
// A zone that was steady and is to change becomes an error once the database knows:
// a [time.FixedZone] of the same offset reads the old serials.
//
// # Checks
//
// The check characters cover all digits behind the prefix; the prefix is compared.
//
//	Scheme              adds         one wrong digit   neighbours swapped     two others swapped
//	Mod97 (default)     2 digits     caught            caught                 caught
//	Mod11               1: 0-9, X    caught            caught                 but for distances 10, 20, …
//	Mod1110             1 digit      caught            all but 2.2% of them   most, not all
//	Luhn                1 digit      caught            all but 09 and 90      none over 2, 4, … places
//
// The first three are ISO 7064's MOD 97-10, MOD 11-2 and MOD 11,10. What the table says
// to be caught is tried, in the tests, at every place with every digit. Wrong digits that
// are no date, no worker or no tick are found without a check.
//
// # Numbers by date
//
// Books want numbers that count up, from 1 on each day, month or year. [Numbering]
// describes them, and [Numbers.Next] hands them out:
//
//	store := sqlstore.New(db, sqlstore.Config{}) // of worker/sqlstore; or redisstore
//	invoices, err := serial.NewNumbers(serial.Numbering{Prefix: "INV", Separator: "-", Block: 100, Counter: store})
//	…
//	number, err := invoices.Next(ctx) // INV-20261121-000123
//
// They are reserved in blocks, so that one statement serves Block calls, and are
// unique over all processes that share the store, as long as it loses no acknowledged
// write. A block is left where its period ends, or the clock goes back to the one before;
// no number is dated by another day than the one it was counted for. What is skipped:
//
//	a process ends, crashes, or the period changes   at most Block-1 numbers, each time, of each process
//	the answer of the store is lost                  the whole block: it is nobody's
//	a transaction that has a number is rolled back   that number
//
// With Block 1, the default, no more than the last two remain. Where there must be
// no gaps at all, [Numbers.NextIn] takes the number within the transaction that
// writes the row, from the In of sqlstore: a rollback gives it back. That cannot be
// had without a price: until the commit, all others who want a number under that key
// wait. And it needs a database: a Redis takes part in no transaction of yours.
//
// # Cost
//
// A [Codec] allocates the string and nothing else, [Codec.AppendEncode] and
// [Codec.Decode] nothing. The methods of Format check and prepare it each time, which
// takes a few microseconds. See the benchmarks.
//
// The package imports the standard library and core only.
package serial
