package readme

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

var fence = regexp.MustCompile("(?sm)^ *```(\\w*)\n(.*?)^ *```$")

// block is a block of code of a document.
type block struct{ language, code string }

// blocks returns those of a document, without their indentation, empty lines and comments.
func blocks(t *testing.T, document string) (list []block) {
	t.Helper()
	text, err := os.ReadFile(repository(t) + document)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		list = append(list, block{m[1], bare(m[1], m[2])})
	}
	return list
}

var comments = map[string]*regexp.Regexp{
	"go":  regexp.MustCompile(`(?m)(^|[ \t])//.*$`),
	"sh":  regexp.MustCompile(`(?m)(^|[ \t])#.*$`),
	"sql": regexp.MustCompile(`(?m)(^|[ \t])--.*$`),
}

// bare returns code without what may differ between a document and the program.
func bare(language, code string) string {
	if comment := comments[language]; comment != nil {
		code = comment.ReplaceAllString(code, "")
	}
	var b strings.Builder
	for line := range strings.Lines(code) {
		if words := strings.Fields(line); len(words) > 0 {
			b.WriteString(strings.Join(words, " ") + "\n")
		}
	}
	return b.String()
}

// repository is the path of its root. It is not cleaned, because go test caches a result
// unless a path that begins in this module has changed.
func repository(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return here + "/../../"
}

// Each block of Go in the documents is in a file of this folder, of the other examples that they
// quote or of the test of recipes, but for comments, and so compiles.
func TestTheDocumentsShowThisCode(t *testing.T) {
	var code strings.Builder
	recipes := repository(t) + "internal/integration/orms/"
	for _, pattern := range []string{"*.go", "../first/*.go", "../tutorial/*.go", "../ent/*.go", "../ent/schema/*.go", "../bun/*.go", recipes + "shop/*.go", recipes + "recipe_*_test.go", repository(t) + "internal/integration/encoding/libraries_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.WriteString(bare("go", string(text)))
		}
	}
	documents := []string{"README.md", "README.zh-CN.md"}
	pages, err := os.ReadDir(repository(t) + "docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if filepath.Ext(page.Name()) == ".md" {
			documents = append(documents, "docs/"+page.Name())
		}
	}
	found := 0
	for _, document := range documents {
		for _, b := range blocks(t, document) {
			if b.language != "go" {
				continue
			}
			found++
			if !strings.Contains(code.String(), b.code) {
				t.Errorf("this block of %s is in no program:\n%s", document, b.code)
			}
		}
	}
	if found < 25 {
		t.Fatalf("only %d blocks of Go found", found)
	}
}

// Both READMEs have the same headings in number and order, and the same blocks, but for
// comments; and they link to the same pages.
func TestTheReadmesAgree(t *testing.T) {
	english, chinese := blocks(t, "README.md"), blocks(t, "README.zh-CN.md")
	if len(english) < 8 {
		t.Fatalf("only %d blocks found", len(english))
	}
	if !slices.Equal(english, chinese) {
		t.Errorf("the blocks differ:\n%v\n%v", english, chinese)
	}
	var outline, links [2][]string
	for i, name := range []string{"README.md", "README.zh-CN.md"} {
		text, err := os.ReadFile(repository(t) + name)
		if err != nil {
			t.Fatal(err)
		}
		prose := fence.ReplaceAllString(string(text), "")
		for _, m := range regexp.MustCompile(`(?m)^(#+) `).FindAllStringSubmatch(prose, -1) {
			outline[i] = append(outline[i], m[1])
		}
		for _, m := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(prose, -1) {
			if !strings.HasPrefix(m[1], "README") && !strings.HasPrefix(m[1], "#") {
				links[i] = append(links[i], m[1])
			}
		}
		slices.Sort(links[i]) // a sentence may need another order
		links[i] = slices.Compact(links[i])
	}
	for what, lists := range map[string][2][]string{"headings": outline, "links": links} {
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("%s differ:\n%q\n%q", what, lists[0], lists[1])
		}
	}
}

// The statements of docs/ddl.md that call the functions run on PostgreSQL. The others are tested
// in internal/integration/ddl.
func TestDocumentedSQL(t *testing.T) {
	db, err := sql.Open("pgx", testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	functions, err := ddl.Config{Dialect: ddl.Postgres, Layout: core.Twitter()}.Functions()
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{functions.String(), "CREATE TABLE orders (id bigint PRIMARY KEY)"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, b := range blocks(t, "docs/ddl.md") {
		if b.language != "sql" || !strings.Contains(b.code, "snowflake_") {
			continue
		}
		found++
		if _, err := db.ExecContext(t.Context(), b.code); err != nil {
			t.Errorf("%v:\n%s", err, b.code)
		}
	}
	if found == 0 {
		t.Fatal("no block of SQL found")
	}
}
