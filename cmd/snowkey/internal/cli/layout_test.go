package cli

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Each preset by name, and with changes.
func TestLayout(t *testing.T) {
	layout := func(args ...string) (core.Layout, error) {
		cmd := &cobra.Command{}
		var l core.Layout
		addLayout(cmd, &l)
		if err := cmd.Flags().Parse(args); err != nil {
			return core.Layout{}, err
		}
		if given := given(cmd, layoutNames); (len(given) > 0) != (len(args) > 0) {
			t.Errorf("%q: %q were given", args, given)
		}
		err := cmd.PreRunE(cmd, nil)
		return l, err
	}
	if l, err := layout(); err != nil || l != core.Twitter() {
		t.Errorf("without flags: %v, %v", l, err)
	}
	for _, p := range core.Presets() {
		if l, err := layout("--preset", p.Name); err != nil || l != p.Layout.WithDefaults() {
			t.Errorf("%s: %v, %v", p.Name, l, err)
		}
	}
	l, err := layout("--preset=Discord", "--epoch=1767225600000", "--tick=10ms", "--sequence-first")
	want := core.Discord()
	want.Epoch, want.Tick, want.SequenceFirst = l.Epoch, 10e6, true
	if err != nil || l != want || l.Epoch.UnixMilli() != 1767225600000 {
		t.Errorf("%v, %v", l, err)
	}
	if l, err := layout("--preset=sonyflake", "--sequence-first=false"); err != nil || l.SequenceFirst {
		t.Errorf("%v, %v", l, err)
	}
	l, err = layout("--time-bits=42", "--worker-bits=9", "--sequence-bits=13", "--unsigned")
	if err != nil || l.TimeBits != 42 || l.DatacenterBits != 0 || l.WorkerBits != 9 || l.SequenceBits != 13 || !l.Unsigned {
		t.Errorf("%v, %v", l, err)
	}
	if _, err := layout("--time-bits=42", "--sequence-bits=22"); err == nil {
		t.Error("64 bits that are not unsigned are accepted")
	}
}
