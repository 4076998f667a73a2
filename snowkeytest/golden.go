package snowkeytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// decimalID is a number of 16 to 19 digits that stands alone. Ids had 16 digits a few days after
// the epoch of their layout.
const decimalID = `\b[1-9][0-9]{15,18}\b`

// ReplaceIDs replaces the ids in a text with placeholders: the first id and its repetitions with
// <id-1>, the second with <id-2>, and so on. So the text is the same in each run, and still shows
// which ids are equal. An id is a number of 16 to 19 digits or, if prefixes has ord, a key or token
// such as ord_1qda147xjq4ad.
//
// Other numbers of that length, such as Unix nanoseconds, are replaced as well.
func ReplaceIDs(text string, prefixes ...string) string {
	pattern := decimalID
	for _, p := range prefixes {
		pattern += `|\b` + regexp.QuoteMeta(p) + `_[0-9A-Za-z]+\b`
	}
	names := make(map[string]string)
	return regexp.MustCompile(pattern).ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("<id-%d>", len(names)+1)
		}
		return names[id]
	})
}

// updateVariable makes Golden write.
const updateVariable = "SNOWKEY_UPDATE_GOLDEN"

// Golden applies ReplaceIDs to got, compares it with the contents of a file, and fails the test if
// they differ. A string or a []byte is compared as it is, any other value as indented JSON. The
// file may have Windows line endings.
//
// With SNOWKEY_UPDATE_GOLDEN=1 in the environment, Golden writes the file instead.
func Golden(t testing.TB, file string, got any, prefixes ...string) {
	t.Helper()
	text, err := textOf(got)
	if err != nil {
		t.Fatal(err)
	}
	text = ReplaceIDs(text, prefixes...)
	if os.Getenv(updateVariable) == "1" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // files of the repository
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // as above
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with %s=1 to write it", err, updateVariable)
	}
	if difference := differ(text, strings.ReplaceAll(string(want), "\r\n", "\n")); difference != "" {
		t.Errorf("%s: %s; run the test with %s=1 to accept it", file, difference, updateVariable)
	}
}

func textOf(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("snowkeytest: Golden of a %T: %w", v, err)
	}
	return b.String(), nil
}

// differ names the first line that differs.
func differ(got, want string) string {
	if got == want {
		return ""
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	line := func(lines []string) string {
		if i < len(lines) {
			return fmt.Sprintf("%q", lines[i])
		}
		return "the end"
	}
	return fmt.Sprintf("line %d is %s, want %s", i+1, line(g), line(w))
}
