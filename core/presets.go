package core

import "time"

// A Preset is a layout that is known by a name.
type Preset struct {
	Name   string
	Layout Layout
	About  string
}

// Presets lists the layouts known by name.
func Presets() []Preset {
	return []Preset{
		{"twitter", Twitter(), "Twitter's: 41 time, 5 datacenter, 5 worker, 12 sequence; the default"},
		{"discord", Discord(), "Discord's: 41 time from 2015, 5 worker (datacenter here), 5 process (worker here), 12 increment"},
	}
}

// Twitter is the layout of Twitter's ids, and what a zero Layout stands for.
func Twitter() Layout { return Layout{}.withDefaults() }

// Discord is the layout of Discord's ids, less the top bit of their time, which
// the sign takes: it ends in 2084. What Discord calls worker and process stand
// in Datacenter and Worker.
func Discord() Layout {
	return Layout{Epoch: time.UnixMilli(1420070400000), TimeBits: 41, DatacenterBits: 5, WorkerBits: 5, SequenceBits: 12}.withDefaults()
}
