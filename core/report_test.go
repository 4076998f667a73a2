package core_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestEventsAreReported(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		var log bytes.Buffer
		l := core.Layout{Epoch: time.Now().Add(-time.Hour), TimeBits: 37, WorkerBits: 5, SequenceBits: 12} // 4.3 years
		gr := mustGrant(t, l, 3, time.Now(), time.Now().Add(time.Minute))
		src := &source{grants: []*core.Grant{gr, mustGrant(t, l, 4, time.Now(), time.Now().Add(time.Hour))}}
		g := mustNew(t, core.Config{Worker: src, Now: clock.now, ClockPolicy: core.Refuse{}, Observer: core.LogTo(slog.New(slog.NewTextHandler(&log, nil)))})
		for range 100_000 {
			next(t, g)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines for %d ids without an event:\n%s", n, 100_000, log.String())
		}
		clock.offset = -3 * time.Second
		if _, err := g.Next(t.Context()); err == nil {
			t.Error("no error")
		}
		clock.offset = 0
		gr.Revoke(errors.New("the row is another's"))
		if _, err := g.Next(t.Context()); err != nil {
			t.Error(err)
		}
		for _, want := range []string{
			`level=WARN msg="snowkey: layout expiring" worker=3 duration=38176h`,
			`msg="snowkey: clock step back" worker=3 duration=3s`,
			`msg="snowkey: wait timeout" worker=3 err="core: the clock is 3s behind`,
			`msg="snowkey: grant lost" worker=3 err="core: worker ID lost: the row is another's"`,
			`level=INFO msg="snowkey: grant replaced" worker=4`,
		} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %q:\n%s", want, log.String())
			}
		}
	})
	core.LogTo(nil).Observe(core.Event{Kind: core.GrantLost}) // says nothing, and does not panic
	var log bytes.Buffer
	core.LogTo(slog.New(slog.NewJSONHandler(&log, nil))).Observe(core.Event{Kind: core.ClockStepBack, Duration: 29_675_478_053})
	if !strings.Contains(log.String(), `"duration":"29.675478053s"`) {
		t.Error(log.String())
	}
}

func TestStats(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *manual) {
		l := core.Twitter()
		gr := mustGrant(t, l, 3, time.Now(), time.Now().Add(time.Minute))
		g := mustNew(t, core.Config{Worker: holder{gr}, Now: clock.now})
		mustFill(t, g, 10_000)
		time.Sleep(10 * time.Second)
		next(t, g)
		st := g.Stats()
		if st.Issued != 10_001 || st.Worker != 3 || !st.HasFence || st.FenceLeft < 49*time.Second || st.FenceLeft > 51*time.Second {
			t.Errorf("%+v", st)
		}
		if left := time.Until(l.End()); st.LayoutLeft < left-time.Second || st.LayoutLeft > left+time.Second {
			t.Errorf("%+v", st)
		}
		clock.offset = -time.Minute
		next(t, g)
		if st := g.Stats(); st.StepsBack != 1 || st.LargestStepBack != time.Minute || st.Ahead != time.Minute {
			t.Errorf("%+v", st)
		}
		first := mustNew(t, core.Config{Worker: holder{mustGrant(t, l, 4, time.Now().Add(time.Hour), time.Time{})}, Now: clock.now})
		if st := first.Stats(); st.Ahead != 0 {
			t.Errorf("no id is issued yet: %+v", st)
		}
		one := mustNew(t, core.Config{Worker: core.Fixed(1), Now: clock.now, Layout: core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 1}})
		mustFill(t, one, 10)
		if st := one.Stats(); st.Issued != 10 || st.Waited == 0 || st.Exhausted == 0 || st.HasFence || st.FenceLeft != 0 {
			t.Errorf("%+v", st)
		}
	})
	var none core.Generator
	if st := none.Stats(); st != (core.Stats{}) {
		t.Errorf("%+v", st)
	}
	none.Close()
	if _, err := none.Next(t.Context()); !errors.Is(err, core.ErrClosed) {
		t.Error(err)
	}
}
