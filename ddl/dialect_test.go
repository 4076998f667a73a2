package ddl

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

var dialects = []Dialect{Postgres, MySQL, SQLite}

// unquote reads one quoted identifier as a database does, and gives what follows it.
func unquote(s string) (name, rest string) {
	quote := s[:1]
	s = s[1:]
	for {
		i := strings.Index(s, quote)
		name += s[:i]
		s = s[i+1:]
		if !strings.HasPrefix(s, quote) {
			return name, s
		}
		name += quote
		s = s[1:]
	}
}

// A name that is taken is what the database reads, to the end; one that is not
// has its fault.
func FuzzIdent(f *testing.F) {
	for _, name := range []string{"id", "", `a"b`, "a`b", `"`, "`", "a\x00b", "\xff", `\`, "a b ", strings.Repeat("ä", 64), "😀", `"; DROP TABLE x; --`} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, d := range dialects {
			var bad fields.Errors
			quoted := d.ident(&bad, "Table", name)
			if err := bad.Err("ddl"); err != nil {
				var config *core.ConfigError
				if !errors.As(err, &config) || config.Fields[0].Field != "Table" || !utf8.ValidString(err.Error()) {
					t.Fatalf("%q: %v", name, err)
				}
				continue
			}
			if got, rest := unquote(quoted); got != name || rest != "" {
				t.Errorf("%s: %q is quoted as %s, which reads as %q and %q", d, name, quoted, got, rest)
			}
			if name == "" || strings.ContainsRune(name, 0) || !utf8.ValidString(name) || d == Postgres && len(name) > 63 || d == MySQL && utf8.RuneCountInString(name) > 64 {
				t.Errorf("%s takes %q", d, name)
			}
		}
	})
}

// A string constant is read back as it was, where a backslash is a letter and
// where it is not.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "orders", `it's`, `\`, `\'`, `'\`, `\\'`, "ä"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range dialects {
			if d == SQLite && strings.Contains(s, `\`) {
				continue // it is never anything else there
			}
			text := d.text(s)
			switch {
			case strings.HasPrefix(text, "E'"):
				inside := strings.NewReplacer(`\\`, `\`, "''", "'").Replace(text[2 : len(text)-1])
				if inside != s || strings.Count(text, `\`)%2 != 0 || strings.Count(text, "'")%2 != 0 {
					t.Errorf("%s: %q is %s", d, s, text)
				}
			case strings.HasPrefix(text, "'"):
				if got, rest := unquote(text); got != s || rest != "" || strings.Contains(text, `\`) {
					t.Errorf("%s: %q is %s", d, s, text)
				}
			case strings.Trim(strings.TrimSuffix(strings.TrimPrefix(text, "CONVERT(x'"), "' USING utf8mb4)"), "0123456789abcdef") != "":
				t.Errorf("%s: %q is %s", d, s, text)
			}
		}
	})
}
