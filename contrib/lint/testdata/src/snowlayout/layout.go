// Package snowlayout decodes ids with another layout than their generator's.
package snowlayout

import (
	"context"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var own = core.Layout{Epoch: time.UnixMilli(1577836800000), TimeBits: 41, WorkerBits: 8, SequenceBits: 14}

func twoGenerators(ctx context.Context) error {
	sony, err := core.New(core.Config{Layout: core.Sonyflake(), Worker: core.Fixed(1)})
	if err != nil {
		return err
	}
	defer sony.Close()
	mine, err := core.New(core.Config{Layout: own, Worker: core.Fixed(1)})
	if err != nil {
		return err
	}
	defer mine.Close()

	a, err := sony.Next(ctx)
	if err != nil {
		return err
	}
	b, err := sqltype.New(ctx, mine)
	if err != nil {
		return err
	}
	_, _ = core.Twitter().Decode(a)       // want `the id a is of the layout sonyflake, and is decoded with twitter`
	_, _ = core.Layout{}.Decode(int64(b)) // want `the id int64\(b\) is of the layout .*, and is decoded with twitter`
	_, _ = core.Sonyflake().Decode(a)
	_, _ = sony.Layout().Decode(a)
	_, _ = mine.Layout().Explain(a) // want `the id a is of the layout sonyflake`
	_, _ = own.Decode(b.Int64())
	_ = a >> 22                                      // want `a shift by 22 bits is for the time of Twitter's layout`
	_ = time.UnixMilli(int64(b)>>22 + 1288834974657) // want `whose time is 22 bits up, in ms since 1577836800000`
	_ = time.UnixMilli(int64(b)>>22 + 1577836800000)
	return nil
}

// received came from elsewhere.
func received(id int64) error {
	_, err := core.Discord().Decode(id)
	return err
}
