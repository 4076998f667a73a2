package browser

import (
	"encoding/json"
	"net/http"
	"testing"
)

// The page at /api shows each operation of openapi.json and carries one out. The tab fails
// the test if the page breaks its content security policy.
func TestAPIReference(t *testing.T) {
	t.Parallel()
	url := serve(t)
	tb := open(t, url+"/api")
	tb.wait("document.documentElement.dataset.ready")

	answer, err := http.Get(url + "/api") // as a program: it gets the description itself
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var doc struct{ Paths map[string]map[string]any }
	if err := json.NewDecoder(answer.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, operations := range doc.Paths {
		want += len(operations)
	}
	tb.wait("document.querySelector('.opblock')")
	if got := eval[int](tb, "document.querySelectorAll('.opblock').length"); got != want || want < 8 {
		t.Errorf("the page shows %d operations, not %d", got, want)
	}

	tb.click("#operations-IDs-parse .opblock-summary-control")
	tb.wait("document.querySelector('#operations-IDs-parse .execute')")
	tb.click("#operations-IDs-parse [data-param-name=id] .json-schema-form-item-add")
	tb.fill("#operations-IDs-parse [data-param-name=id] input", "175928847299117063")
	eval[bool](tb, "(document.activeElement.blur(), true)") // else the page takes the text only 350 ms later
	tb.click("#operations-IDs-parse .execute")
	tb.wait("document.querySelector('#operations-IDs-parse .live-responses-table')?.innerText.includes('\"id\": \"175928847299117063\"')")
}
