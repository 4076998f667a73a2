package sqltype_test

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A page as a browser gets it: ids in fields, in lists, as keys, and none.
type page struct {
	Next  sqltype.ID            `json:"next"`
	Rows  []pageRow             `json:"rows"`
	IDs   []sqltype.ID          `json:"ids"`
	Names map[sqltype.ID]string `json:"names"`
}

type pageRow struct {
	ID     sqltype.ID     `json:"id"`
	Parent sqltype.NullID `json:"parent"`
}

// What JavaScript parses and sends back is what was sent, to the last digit. The
// same ids as bare numbers would not have come back, so the test can fail.
func TestJavaScript(t *testing.T) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	numbers := make([]int64, 1000)
	if err := gen.Fill(t.Context(), numbers); err != nil {
		t.Fatal(err)
	}
	sent := page{Next: sqltype.ID(numbers[0]), Names: map[sqltype.ID]string{}}
	for i, n := range numbers {
		row := pageRow{ID: sqltype.ID(n)}
		if i > 0 {
			row.Parent = sqltype.NullID{ID: sent.IDs[i-1], Valid: true}
		}
		sent.Rows = append(sent.Rows, row)
		sent.IDs = append(sent.IDs, row.ID)
		sent.Names[row.ID] = row.ID.String()
	}
	text, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := json.Marshal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Log("node is not here to parse it")
		return
	}
	back := node(t, string(text))
	var got page
	if err := json.Unmarshal([]byte(back), &got); err != nil || !reflect.DeepEqual(got, sent) {
		t.Errorf("JavaScript changed the page: %v\n%.200s\n%.200s", err, text, back)
	}
	var rounded []int64
	if err := json.Unmarshal([]byte(node(t, string(bare))), &rounded); err != nil || len(rounded) != len(numbers) {
		t.Fatalf("%d numbers, %v", len(rounded), err)
	}
	changed := 0
	for i := range numbers {
		if rounded[i] != numbers[i] {
			changed++
		}
	}
	t.Logf("of %d ids sent as bare numbers, JavaScript changed %d", len(numbers), changed)
	if changed < len(numbers)/2 {
		t.Errorf("JavaScript changed %d of %d bare numbers: this test shows nothing", changed, len(numbers))
	}
	// A small number that JavaScript sends as one is read too.
	var small sqltype.ID
	if err := json.Unmarshal([]byte(node(t, "9007199254740991")), &small); err != nil || small != 1<<53-1 {
		t.Errorf("%d, %v", small, err)
	}
}

// node parses a text as JavaScript does, and writes what it has.
func node(t *testing.T, text string) string {
	t.Helper()
	cmd := exec.Command("node", "-e", `process.stdout.write(JSON.stringify(JSON.parse(require("fs").readFileSync(0, "utf8"))))`)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	return string(out)
}
