package readme

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestKeys(t *testing.T) {
	const id = 1996573624012345677
	b, err := json.Marshal(Ticket{ID: id, CustomerID: id})
	const want = `{"id":"tkt_1qda147xjq4ad","customerId":"cus_1qda147xjq4ad","parentId":null}`
	if err != nil || string(b) != want {
		t.Fatalf("%s, %v", b, err)
	}
	for in, want := range map[string]error{
		"tkt_1qda147xjq4ad": nil, "REQ_1QDA147XJQ4AD": nil, "1996573624012345677": nil,
		"cus_1qda147xjq4ad": sqltype.ErrPrefix, "tkt_1qda147xjq4a": sqltype.ErrSyntax, "tkt_8000000000000": sqltype.ErrRange,
	} {
		r := httptest.NewRequest(http.MethodGet, "/tickets/x", nil)
		r.SetPathValue("id", in)
		key, err := ticketOf(r)
		if !errors.Is(err, want) || err == nil && key != id {
			t.Errorf("%s: %v, %v", in, key, err)
		}
	}
	if err := errors.Join((*Customer)(nil).KeyForm().Check(), (*Ticket)(nil).KeyForm().Check()); err != nil {
		t.Error(err)
	}
}

// The page's pattern is that of the keys, and its errors are those of the code and of the compiler,
// which a test of sqltype compares with testdata/mixing.
func TestPageOfKeys(t *testing.T) {
	page := ""
	for _, b := range blocks(t, "docs/keys.md") {
		page += b.code
	}
	_, err := sqltype.ParseKey[Ticket]("cus_1qda147xjq4ad")
	if err == nil || !strings.Contains(page, err.Error()) {
		t.Errorf("docs/keys.md does not show %v", err)
	}
	mixing, err := os.ReadFile(repository(t) + "sqltype/testdata/mixing/mixing.go")
	if err != nil {
		t.Fatal(err)
	}
	compiler := regexp.MustCompile(`(?m)^(cannot use|invalid operation).*$`).FindAllString(page, -1)
	for _, line := range compiler {
		if line = strings.Replace(line, "variable of int64 type", "VALUE", 1); !strings.Contains(string(mixing), " // "+line+"\n") {
			t.Errorf("the compiler does not say: %s", line)
		}
	}
	if len(compiler) < 2 {
		t.Errorf("only %d errors of the compiler", len(compiler))
	}
	m := regexp.MustCompile(`pattern: "(.*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("docs/keys.md has no pattern")
	}
	pattern := regexp.MustCompile(m[1])
	for _, key := range []sqltype.Key[Ticket]{0, 1996573624012345677, 1<<63 - 1} {
		if !pattern.MatchString(key.String()) {
			t.Errorf("%s does not match %v", m[1], key)
		}
	}
	for _, text := range []string{"tkt_8000000000000", "tkt_000000000000u", "tkt_00000000000000", "cus_0000000000000"} {
		if _, err := sqltype.ParseKey[Ticket](text); err == nil || pattern.MatchString(text) {
			t.Errorf("%s matches %s, or is read: %v", text, m[1], err)
		}
	}
}
