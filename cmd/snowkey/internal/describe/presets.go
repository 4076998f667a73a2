package describe

import (
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Recognize returns the presets that texts may be IDs of, the one to assume first. A prefix is
// snowkey's, so the preset is then the default. Otherwise it is the one under which the times of
// most IDs are possible; of several, the first in the order of core.Presets, which begins with
// the default. If no time is possible, it is the default. The page's recognize.js does the same.
func Recognize(texts []string, format Format, now time.Time) []core.Preset {
	presets := core.Presets()
	counts := make([]int, len(presets))
	for _, text := range texts {
		id, found, err := Parse(text, format, false)
		if err != nil {
			continue
		}
		if found.Prefix() != "" {
			return presets[:1]
		}
		for i, p := range presets {
			if possible(p.Layout, id, now) {
				counts[i]++
			}
		}
	}
	most := slices.Max(counts)
	if most == 0 {
		return presets[:1]
	}
	var best []core.Preset
	for i, p := range presets {
		if counts[i] == most {
			best = append(best, p)
		}
	}
	return best
}

// possible reports whether the time of an ID is neither within half a day of the epoch, where small
// numbers are, nor more than a day in the future.
func possible(l core.Layout, id int64, now time.Time) bool {
	low := lowBits(l)
	if id>>(low+int(l.TimeBits)) != 0 {
		return false
	}
	sinceEpoch := id >> low * l.Tick.Milliseconds() // no preset reaches 2^63
	return sinceEpoch >= (12*time.Hour).Milliseconds() && sinceEpoch <= now.Add(24*time.Hour).UnixMilli()-l.Epoch.UnixMilli()
}

// presetOf returns the preset that a layout is, or one without a name.
func presetOf(l core.Layout) core.Preset {
	for _, p := range core.Presets() {
		if p.Layout == l {
			return p
		}
	}
	return core.Preset{}
}
