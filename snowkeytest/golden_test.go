package snowkeytest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestReplaceIDs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		prefixes   []string
		want       string
	}{
		{"repeated", `{"id":"1996573624012345677","lines":[{"order_id":1996573624012345677,"id":1996573624012345678}]}`, nil, `{"id":"<id-1>","lines":[{"order_id":<id-1>,"id":<id-2>}]}`},
		{"short numbers", "2026 1767225600000 999999999999999", nil, "2026 1767225600000 999999999999999"},
		{"sixteen digits", "1234567890123456", nil, "<id-1>"},
		{"twenty digits", "19965736240123456770", nil, "19965736240123456770"},
		{"within a word", "a1996573624012345677 1996573624012345677z", nil, "a1996573624012345677 1996573624012345677z"},
		{"prefix", "ord_1qda147xjq4ad cus_1qda147xjq4ad ord_1qda147xjq4ad", []string{"ord"}, "<id-1> cus_1qda147xjq4ad <id-1>"},
		{"two prefixes", "ord_1qda147xjq4ad cus_1qda147xjq4ad", []string{"ord", "cus"}, "<id-1> <id-2>"},
		{"none", "", []string{"a.b"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := snowkeytest.ReplaceIDs(c.text, c.prefixes...); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestGolden(t *testing.T) {
	type row struct {
		ID   sqltype.ID `json:"id"`
		Note string     `json:"note"`
	}
	file := filepath.Join(t.TempDir(), "testdata", "rows.json")
	compare := func(got any) []string {
		f := &fake{name: t.Name()}
		f.run(func() { snowkeytest.Golden(f, file, got) })
		return f.errors
	}
	if errs := compare("x"); len(errs) != 1 || !strings.Contains(errs[0], "SNOWKEY_UPDATE_GOLDEN=1") {
		t.Errorf("without a file: %q", errs)
	}
	t.Setenv("SNOWKEY_UPDATE_GOLDEN", "1")
	if errs := compare([]row{{snowkeytest.ID(1), "<a>"}}); errs != nil {
		t.Fatal(errs)
	}
	t.Setenv("SNOWKEY_UPDATE_GOLDEN", "")
	content, err := os.ReadFile(file)
	const want = "[\n  {\n    \"id\": \"<id-1>\",\n    \"note\": \"<a>\"\n  }\n]\n"
	if err != nil || string(content) != want {
		t.Errorf("%q, %v", content, err)
	}
	if errs := compare([]row{{snowkeytest.ID(7), "<a>"}}); errs != nil {
		t.Errorf("another id: %q", errs)
	}
	if errs := compare([]byte(want)); errs != nil {
		t.Errorf("as bytes: %q", errs)
	}
	if errs := compare([]row{{snowkeytest.ID(7), "b"}}); len(errs) != 1 || !strings.Contains(errs[0], `line 4 is "    \"note\": \"b\"", want "    \"note\": \"<a>\""`) {
		t.Errorf("another note: %q", errs)
	}
	if errs := compare(strings.TrimSuffix(want, "]\n")); len(errs) != 1 || !strings.Contains(errs[0], `line 6 is "", want "]"`) {
		t.Errorf("a text that ends early: %q", errs)
	}
	if errs := compare(func() {}); len(errs) != 1 || !strings.Contains(errs[0], "Golden of a func()") {
		t.Errorf("no JSON: %q", errs)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(want, "\n", "\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if errs := compare(want); errs != nil {
		t.Errorf("the line ends of Windows: %q", errs)
	}
}
