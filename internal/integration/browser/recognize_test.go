package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// recent is a status of 2025, whose time is in the future under Discord.
const recent = "1943700350768169206"

// today is the page's clock in the tests of recognition, whose answer depends on it.
const today = "Date.now = () => Date.UTC(2026, 10, 23), true"

func composed(t testing.TB, l core.Layout, at string, p core.Parts) string {
	t.Helper()
	var err error
	if p.Time, err = time.Parse(time.DateTime, at); err != nil {
		t.Fatal(err)
	}
	id, err := l.Compose(p)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(id)
}

// IDs that are pasted without a preset are read as those of the most plausible one, with its
// names of fields. The others are listed.
func TestRecognize(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	eval[bool](tb, today)
	for _, c := range []struct {
		name, id string
		want     []string // in the result
		also     string   // the first of the others that are possible
	}{
		{"Discord", "175928847299117063", []string{"Discord auto-detected", "2016-04-30 11:18:25.796 UTC", "Worker 1", "Process 0", "Increment 7"}, "Twitter 2012-03-03"},
		{"Discord, an increment of 0", "80351110224678912", []string{"Discord auto-detected", "2015-08-10"}, "Twitter 2011-06-13"},
		{"Discord in base62", "0Czks0tP37X", []string{"Discord auto-detected", "2016-04-30 11:18:25.796 UTC"}, "Twitter"},
		{"Twitter", "1050118621198921728", []string{"Twitter auto-detected", "2018-10-10 20:19:24", "Datacenter 10", "Worker 27", "Sequence 0"}, "Instagram 2015-08-12"},
		{"Twitter, where Discord is in the future", recent, []string{"Twitter auto-detected", "2025-07-11"}, "Instagram"},
		{"Twitter, or another", "347721978351616", []string{"Discord auto-detected; could also be Twitter"}, "Twitter 2010-11-05"},
		{"Sonyflake", composed(t, core.Sonyflake(), "2026-03-01 12:34:56", core.Parts{Worker: 43021}), []string{"Sonyflake auto-detected", "2026-03-01 12:34:56.000 UTC", "Sequence 0", "Machine 43021"}, "Instagram"},
		{"Mastodon", composed(t, core.Mastodon(), "2024-05-06 07:08:09", core.Parts{Sequence: 40911}), []string{"Mastodon auto-detected", "2024-05-06 07:08:09", "Sequence 40911"}, "Instagram"},
		{"Instagram", composed(t, core.Instagram(), "2024-05-06 07:08:09", core.Parts{Worker: 4280, Sequence: 255}), []string{"Instagram auto-detected", "2024-05-06", "Shard 4280", "Sequence 255"}, ""},
		{"Safe for JavaScript", composed(t, core.JavaScriptSafe(), "2026-05-06 07:08:09", core.Parts{Worker: 3}), []string{"Safe for JavaScript auto-detected", "2026-05-06"}, "Twitter 2010-11-06"},
		{"Seconds", composed(t, core.Seconds(), "2026-05-06 07:08:09", core.Parts{Worker: 3, Sequence: 2}), []string{"Seconds auto-detected", "2026-05-06"}, "Discord 2018"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb.write("#ids", c.id)
			tb.has("#decode-result", c.want...)
			if got := eval[string](tb, "[...document.querySelectorAll('#decode-others section > table tr')].map(r => [...r.children].map(c => c.textContent).join(' '))[1] ?? ''"); strings.TrimSpace(got) == "" != (c.also == "") || !strings.HasPrefix(got, c.also) {
				t.Errorf("%s is also possible, want %s", got, c.also)
			}
		})
	}

	// What is no ID of a preset: all times are there to choose from.
	for _, id := range []string{"12345", "1700000000000", "9223372036854775807"} {
		tb.write("#ids", id)
		tb.has("#decode-result", "No preset gives a plausible time", "Discord", "Mastodon", "enter the layout")
		if n := eval[int](tb, "document.querySelectorAll('#decode-result tbody tr').length"); n != 8 {
			t.Errorf("%s: %d presets of 8", id, n)
		}
	}

	// A click chooses another reading, for all tools. The page warns if it is implausible.
	tb.write("#ids", "175928847299117063")
	tb.settled(func() {
		eval[bool](tb, "[...document.querySelectorAll('#decode-others button')].find(b => b.textContent === 'Twitter').click(), true")
	})
	tb.has("#decode-result", "Twitter as chosen", "2012-03-03 13:01:20.453 UTC")
	tb.has("#decode-others", "Also possible", "Discord 2016-04-30")
	if got := eval[string](tb, "document.getElementById('preset').value + document.activeElement.id + location.hash"); got != "twitterpreset#preset=twitter&ids=175928847299117063" {
		t.Error(got)
	}
	tb.follow("generate")
	tb.has("#tab-generate", "Layout: Twitter")
	tb.follow("decode")
	tb.choose("#preset", "discord")
	tb.write("#ids", recent)
	tb.has("#decode-result", "Discord as chosen", "Under Discord the time is in the future. The preset may be another one.")
	tb.choose("#preset", "auto")
	tb.has("#decode-result", "Twitter auto-detected")

	// A list has one preset: the one under which the most IDs are plausible.
	tb.write("#ids", "1050118621198921728 175928847299117063 "+recent)
	tb.has("#decode-result", "3 IDs", "Twitter auto-detected", "2012-03-03 13:01:20.453")
	tb.has("#decode-others", "Instagram 2012-04-23 to 2018-12-27")
}
