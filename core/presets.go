package core

import "time"

// A Preset is a layout that has a name.
type Preset struct {
	Name        string
	Layout      Layout
	Description string
}

// Presets returns all presets. Those of other systems follow their makers' documents, but
// drop the top bit of the time where it would be the sign bit.
func Presets() []Preset {
	return []Preset{
		{"twitter", Twitter(), "41 time in ms from 2010, 5 datacenter, 5 machine, 12 sequence; the default"},
		{"discord", Discord(), "41 time in ms from 2015, 5 worker (datacenter here), 5 process (machine here), 12 increment"},
		{"instagram", Instagram(), "40 time in ms from 2011, 13 shard (worker ID here), 10 sequence"},
		{"mastodon", Mastodon(), "47 time in ms from 1970, 16 sequence, no worker: for reading ids, or a single generator"},
		{"sonyflake", Sonyflake(), "39 time in 10ms from 2014, 8 sequence, 16 machine (worker ID here), the sequence above the machine"},
		{"tsid", TSID(), "41 time in ms from 2020, 10 node (worker ID here), 12 counter (sequence here): TSIDs of hypersistence and f4b6a3"},
		{"pgedge", PgEdge(), "41 time in ms from 2023, 12 count (sequence here), 10 node (worker ID here): pgEdge's extension snowflake"},
		{"classic2015", Classic2015(), "Twitter's widths from 2015-01-01 in China's time zone, as many Java and Python copies have it"},
		{"seconds", Seconds(), "32 time in seconds from 2020, 10 worker ID, 21 sequence: 2,097,152 ids a second for each worker, to 2156"},
		{"many-workers", ManyWorkers(), "41 time in ms from 2010, 16 worker ID, 6 sequence: 65,536 worker IDs, each with 64 ids a millisecond"},
		{"javascript-safe", JavaScriptSafe(), "41 time in ms from 2020, 6 worker ID, 6 sequence: 53 bits, which a JavaScript number holds"},
	}
}

func unixMilli(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Twitter is the layout of Twitter's ids, and the default for a zero Layout.
func Twitter() Layout { return Layout{}.WithDefaults() }

// Discord is the layout of Discord's ids without the top bit of their time, which is the
// sign bit; it ends in 2084. Discord's worker and process are Datacenter and Worker here.
func Discord() Layout {
	return Layout{Epoch: unixMilli(1420070400000), Tick: time.Millisecond, TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 12}
}

// Instagram is the layout of Instagram's ids without the top bit of their time, which is the
// sign bit; it ends in 2046. Instagram's shard is Worker here.
func Instagram() Layout {
	return Layout{Epoch: unixMilli(1314220021721), Tick: time.Millisecond, TimeBits: 40, WorkerBits: 13, SequenceBits: 10}
}

// Mastodon is the layout of Mastodon's ids without the top bit of their time, which is the
// sign bit. It has no worker field, so only one generator may use it at a time. Mastodon
// itself fills the sequence from a hash and a sequence of the table.
func Mastodon() Layout {
	return Layout{Epoch: unixMilli(0), Tick: time.Millisecond, TimeBits: 47, SequenceBits: 16}
}

// Sonyflake is the layout of Sonyflake's ids: ticks of 10ms, and the sequence above the
// worker; it ends in 2188.
func Sonyflake() Layout {
	return Layout{Epoch: unixMilli(1409529600000), Tick: 10 * time.Millisecond, TimeBits: 39, SequenceBits: 8, WorkerBits: 16, SequenceFirst: true}
}

// TSID is the default layout of the Java libraries hypersistence-tsid and tsid-creator, without the top bit
// of their time, which is the sign bit; it ends in 2089. Their node is Worker here. Their counter, which is
// Sequence here, begins at random.
func TSID() Layout {
	return Layout{Epoch: unixMilli(1577836800000), Tick: time.Millisecond, TimeBits: 41, WorkerBits: 10, SequenceBits: 12}
}

// PgEdge is the layout of pgEdge's extension snowflake for PostgreSQL, with the sequence above the worker; it
// ends in 2092. pgEdge's node is Worker here.
func PgEdge() Layout {
	return Layout{Epoch: unixMilli(1672531200000), Tick: time.Millisecond, TimeBits: 41, SequenceBits: 12, WorkerBits: 10, SequenceFirst: true}
}

// Classic2015 has Twitter's widths and the epoch 1420041600000, midnight of 2015-01-01 in
// UTC+8, which many copies of Twitter's generator use.
func Classic2015() Layout {
	return Layout{Epoch: unixMilli(1420041600000), Tick: time.Millisecond, TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 12}
}

// Seconds has ticks of a second from 2020-01-01 and a long sequence, all of which a burst may
// use at once; it ends in 2156.
func Seconds() Layout {
	return Layout{Epoch: unixMilli(1577836800000), Tick: time.Second, TimeBits: 32, WorkerBits: 10, SequenceBits: 21}
}

// ManyWorkers has 65,536 worker IDs, each with 64 ids a millisecond. Its ids have their time where
// Twitter's have it, so that they sort among those; it ends in 2080.
func ManyWorkers() Layout {
	return Layout{Epoch: unixMilli(twitterEpoch), Tick: time.Millisecond, TimeBits: 41, WorkerBits: 16, SequenceBits: 6}
}

// JavaScriptSafe has 53 bits in all, from 2020-01-01, so that JavaScript represents its ids
// exactly. It has 64 worker IDs, each with 64 ids a millisecond; it ends in 2089.
func JavaScriptSafe() Layout {
	return Layout{Epoch: unixMilli(1577836800000), Tick: time.Millisecond, TimeBits: 41, WorkerBits: 6, SequenceBits: 6}
}
