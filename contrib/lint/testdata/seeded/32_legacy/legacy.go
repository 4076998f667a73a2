// Package legacy keeps the ids of a service that was written for sonyflake.
package legacy

import (
	"context"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Epoch is the StartTime of the settings.
var Epoch = time.Date(2019, 6, 1, 0, 0, 0, 0, time.UTC)

func layout() core.Layout {
	l := core.Sonyflake()
	l.Epoch = Epoch
	return l
}

// IDs makes ids and says when they were made.
type IDs struct {
	*core.Generator
}

// New makes ids. Call Close at the end.
func New(machine int64) (*IDs, error) {
	gen, err := core.New(core.Config{Layout: layout(), Worker: core.Fixed(machine)})
	if err != nil {
		return nil, err
	}
	return &IDs{gen}, nil
}

type Device struct {
	ID   sqltype.ID `json:"id"`
	Name string     `json:"name"`
}

// Add makes a device.
func (ids *IDs) Add(ctx context.Context, name string) (Device, error) {
	id, err := sqltype.New(ctx, ids)
	return Device{ID: id, Name: name}, err
}

// Seconds returns the Unix time of a device.
func Seconds(d Device) int64 {
	return int64(d.ID) >> 22 / 1000 // FAULT 098 class 12: Twitter's shift without an epoch, for ids of Sonyflake's layout; sony/sonyflake#33
}

// Made returns when a device was made.
func Made(d Device) (time.Time, error) {
	sony := core.Sonyflake()
	p, err := sony.Decode(d.ID.Int64()) // FAULT 099 class 12: the preset has another epoch than the generator; sony/sonyflake#16
	return p.Time, err
}

// MadeAt returns when a device was made.
func MadeAt(d Device) (time.Time, error) {
	p, err := layout().Decode(d.ID.Int64()) // OK 76: the layout of the generator
	return p.Time, err
}

// Half is a share of a device's key space.
func Half(d Device) int64 { return int64(d.ID) >> 32 & 1 } // OK 77: a bit for a shard, not a time
