package core

import "time"

// A Preset is a layout that is known by a name.
type Preset struct {
	Name        string
	Layout      Layout
	Description string
}

// Presets lists the layouts known by name. Those of other systems are as their
// makers give them, less the top bit of the time where the sign takes it.
func Presets() []Preset {
	return []Preset{
		{"twitter", Twitter(), "41 time in ms from 2010, 5 datacenter, 5 worker, 12 sequence; the default"},
		{"discord", Discord(), "41 time in ms from 2015, 5 worker (datacenter here), 5 process (worker here), 12 increment"},
		{"instagram", Instagram(), "40 time in ms from 2011, 13 shard (worker here), 10 sequence"},
		{"mastodon", Mastodon(), "47 time in ms from 1970, 16 sequence, no worker: for reading ids, or a single generator"},
		{"sonyflake", Sonyflake(), "39 time in 10ms from 2014, 8 sequence, 16 machine (worker here), the sequence above the machine"},
		{"classic2015", Classic2015(), "Twitter's widths from 2015-01-01 in China's time zone, as many Java and Python copies have it"},
		{"seconds", Seconds(), "32 time in seconds from 2020, 10 worker, 21 sequence: 2,097,152 ids a second for each worker, to 2156"},
		{"javascript-safe", JavaScriptSafe(), "41 time in ms from 2020, 6 worker, 6 sequence: 53 bits, which a JavaScript number holds"},
	}
}

// from is a layout's epoch, given in Unix milliseconds.
func from(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Twitter is the layout of Twitter's ids, and what a zero Layout stands for.
func Twitter() Layout { return Layout{}.WithDefaults() }

// Discord is the layout of Discord's ids, less the top bit of their time, which
// the sign takes: it ends in 2084. What Discord calls worker and process stand
// in Datacenter and Worker.
func Discord() Layout {
	return Layout{Epoch: from(1420070400000), Tick: time.Millisecond, TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 12}
}

// Instagram is the layout of Instagram's ids, less the top bit of their time,
// which the sign takes: it ends in 2046. The shard stands in Worker.
func Instagram() Layout {
	return Layout{Epoch: from(1314220021721), Tick: time.Millisecond, TimeBits: 40, WorkerBits: 13, SequenceBits: 10}
}

// Mastodon is the layout of Mastodon's ids, less the top bit of their time,
// which the sign takes. It has no worker field: one generator at a time may use
// it. Mastodon fills the sequence from a hash and a table's own sequence.
func Mastodon() Layout {
	return Layout{Epoch: from(0), Tick: time.Millisecond, TimeBits: 47, SequenceBits: 16}
}

// Sonyflake is the layout of Sonyflake's ids: ticks of 10ms, and the sequence
// above the worker. It ends in 2188.
func Sonyflake() Layout {
	return Layout{Epoch: from(1409529600000), Tick: 10 * time.Millisecond, TimeBits: 39, SequenceBits: 8, WorkerBits: 16, SequenceFirst: true}
}

// Classic2015 has Twitter's widths and the epoch 1420041600000, midnight of
// 2015-01-01 in UTC+8, that many copies of Twitter's generator have.
func Classic2015() Layout {
	return Layout{Epoch: from(1420041600000), Tick: time.Millisecond, TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 12}
}

// Seconds has ticks of a second from 2020-01-01 and a long sequence, which a
// burst may use up at once. It ends in 2156.
func Seconds() Layout {
	return Layout{Epoch: from(1577836800000), Tick: time.Second, TimeBits: 32, WorkerBits: 10, SequenceBits: 21}
}

// JavaScriptSafe has 53 bits in all, from 2020-01-01: its ids are exact as
// JavaScript numbers. A worker makes 64 ids a millisecond, and there are 64
// workers. It ends in 2089.
func JavaScriptSafe() Layout {
	return Layout{Epoch: from(1577836800000), Tick: time.Millisecond, TimeBits: 41, WorkerBits: 6, SequenceBits: 6}
}
