package describe

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/core"
)

// The vectors hold for the page as well: internal/integration/browser runs them.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		IDs []struct {
			Text          string
			Format, Found Format
			Unsigned      bool
			ID, Error     string
		}
		Rounded []struct {
			Text, Preset, By, First, Last string
			Workers                       []int64
			Likely                        []string
		}
		Lists []struct {
			Text  string
			Items []string
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors.IDs) < 100 || len(vectors.Lists) < 20 {
		t.Fatalf("%d ids, %d lists, %v", len(vectors.IDs), len(vectors.Lists), err)
	}
	for _, v := range vectors.IDs {
		id, found, err := Parse(v.Text, v.Format, v.Unsigned)
		switch {
		case v.Error == "" && (err != nil || strconv.FormatInt(id, 10) != v.ID || found != v.Found):
			t.Errorf("Parse(%q, %s, %v) = %d, %s, %v, want %s, %s", v.Text, v.Format, v.Unsigned, id, found, err, v.ID, v.Found)
		case v.Error != "" && (err == nil || err.Error() != v.Error):
			t.Errorf("Parse(%q, %s, %v) = %d, %v, want the error %q", v.Text, v.Format, v.Unsigned, id, err, v.Error)
		}
	}
	for _, v := range vectors.Rounded {
		l, err := flagval.Preset(v.Preset)
		if err != nil {
			t.Fatal(err)
		}
		id, _, _ := Parse(v.Text, Decimal, false)
		var got Rounded
		var likely []string
		if r := NewRounded(l, id, v.Workers); r != nil {
			got = *r
		}
		for _, c := range got.Likely {
			likely = append(likely, c.ID)
		}
		if got.By != v.By || got.First != v.First || got.Last != v.Last || !slices.Equal(likely, v.Likely) {
			t.Errorf("%s of %s: %+v, want %+v", v.Text, v.Preset, got, v)
		}
	}
	for _, v := range vectors.Lists {
		if got := Split(v.Text); !slices.Equal(got, v.Items) {
			t.Errorf("Split(%q) = %q, want %q", v.Text, got, v.Items)
		}
	}
}

// Texts have the presets of presets.tsv: ids of ours, of all years, and public ids.
func TestRecognize(t *testing.T) {
	list, err := os.ReadFile("../testdata/presets.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")[1:]
	if len(lines) < 740 {
		t.Errorf("only %d lines", len(lines))
	}
	for _, line := range lines {
		column := strings.Split(line, "\t") // now, texts, presets, origin
		now, err := time.Parse(time.DateOnly, column[0])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range Recognize(strings.Fields(column[1]), Auto, now) {
			got = append(got, p.Name)
		}
		if strings.Join(got, ",") != column[2] {
			t.Errorf("%s: %q, want %s", line, got, column[2])
		}
	}
	const discord = "175928847299117063"
	d, err := New(core.Twitter(), 175928847299117063, discord, Decimal, View{Now: time.Now(), Presets: Recognize([]string{discord}, Auto, time.Now())})
	if err != nil || d.Preset != "twitter" || d.Others["discord"] != "2016-04-30T11:18:25.796Z" || d.Others["twitter"] != "" {
		t.Errorf("%+v, %v", d.Fields, err)
	}
}
