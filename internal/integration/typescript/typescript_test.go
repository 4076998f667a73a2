// Package typescript tests the module for JavaScript and TypeScript, contrib/typescript.
package typescript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var (
	root  = filepath.Join("..", "..", "..")
	files = filepath.Join(root, "contrib", "typescript")
)

type order struct{}

func (*order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

// program runs a program that tools/npm installs, and returns its output.
func program(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(root, "tools", "npm", "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		testserver.Missing(t, fmt.Sprintf("no %s: npm ci --prefix tools/npm", name))
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// A text is an id, or is refused: then ID is empty.
type text struct {
	Form, Text, ID string
}

// An id is composed of parts, in a layout.
type decoded struct {
	ID     string
	Layout map[string]any
	Parts  map[string]any
}

// The module reads, refuses, writes and decodes the same as Go.
func TestAgreement(t *testing.T) {
	testserver.Uncached()
	dist := t.TempDir()
	program(t, "tsc", "-p", files, "--outDir", dist)
	if err := os.WriteFile(filepath.Join(dist, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Texts   []text
		Decoded []decoded
	}
	parsers := map[string]func(string) (int64, error){
		"decimal":    func(s string) (int64, error) { id, err := sqltype.Parse(s); return int64(id), err },
		"base32":     func(s string) (int64, error) { id, err := sqltype.ParseBase32(s); return int64(id), err },
		"bitcoin58":  func(s string) (int64, error) { id, err := sqltype.ParseBitcoin58(s); return int64(id), err },
		"bwmarrin58": func(s string) (int64, error) { id, err := sqltype.ParseBwmarrin58(s); return int64(id), err },
		"base62":     func(s string) (int64, error) { id, err := sqltype.ParseBase62(s); return int64(id), err },
		"ord":        func(s string) (int64, error) { key, err := sqltype.ParseKey[order](s); return int64(key), err },
		"":           func(s string) (int64, error) { key, err := sqltype.ParseKey[int](s); return int64(key), err },
	}
	random := rand.New(rand.NewPCG(36, 7)) //nolint:gosec // no secret
	ids := []int64{0, 1, 31, 32, 1996573624012345677, math.MaxInt64 - 1, math.MaxInt64}
	for range 300 {
		ids = append(ids, random.Int64()>>random.IntN(63))
	}
	texts := []string{
		"", "-1", "-0", "007", "+7", "1.5", "1e3", " 7", "7\n", "0x7", "ord_", "ORD_7ZZZZZZZZZZZZ", "ord_8000000000000", "line_1qda147xjq4ad", "orD_1qda147xjq4ad",
		"ord_1qda147xjq4aD", "ord_OIL147xjq4ad0", "ord__1qda147xjq4ad", "ord1qda147xjq4ad", "9223372036854775808", "99999999999999999999", "٣", "zzzzzzzzzzz", "ZZZZZZZZZZZ", "0000000000lol", "1QDA147XJQ4Ä1", "1QDA-147XJQ4AD",
	}
	for _, id := range ids {
		x := sqltype.ID(id)
		for _, s := range []string{x.String(), x.Base32(), x.Bitcoin58(), x.Base62(), "5CNxMvANbvB", sqltype.Key[order](id).String()} {
			texts = append(texts, s, strings.ToLower(s), strings.ToUpper(s))
			if i := random.IntN(len(s)); id%3 == 0 {
				texts = append(texts, s[:i]+s[i+1:], s[:i]+"!"+s[i:], s[:i]+string(s[len(s)-1-i])+s[i+1:])
			}
		}
	}
	refused := 0
	for _, s := range texts {
		for form, parse := range parsers {
			c := text{Form: form, Text: s}
			if id, err := parse(s); err == nil {
				c.ID = strconv.FormatInt(id, 10)
			} else {
				refused++
			}
			cases.Texts = append(cases.Texts, c)
		}
	}
	if refused < 1000 || len(cases.Texts)-refused < 1000 {
		t.Fatalf("%d of %d texts are refused: the test shows little", refused, len(cases.Texts))
	}
	for _, p := range core.Presets() {
		l := p.Layout
		layout := map[string]any{
			"epoch": l.Epoch.UnixMilli(), "tick": l.Tick.Milliseconds(), "timeBits": l.TimeBits, "rollbackBits": l.RollbackBits, "datacenterBits": l.DatacenterBits,
			"workerBits": l.WorkerBits, "sequenceBits": l.SequenceBits, "sequenceFirst": l.SequenceFirst,
		}
		for range 50 {
			id := random.Int64() >> 1
			parts, err := l.Decode(id)
			c := decoded{ID: strconv.FormatInt(id, 10), Layout: layout}
			if year := parts.Time.Year(); err == nil && year < 200_000 { // as far as JavaScript's dates reach
				c.Parts = map[string]any{"time": parts.Time.UnixMilli(), "rollback": parts.Rollback, "workerID": parts.Datacenter<<l.WorkerBits | parts.Worker, "datacenter": parts.Datacenter, "machine": parts.Worker, "sequence": parts.Sequence}
			}
			cases.Decoded = append(cases.Decoded, c)
		}
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "agreement.mjs", filepath.Join(dist, "snowkey.js"))
	node.Stdin = bytes.NewReader(input)
	if out, err := node.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(len(cases.Texts)+len(cases.Decoded)) {
		t.Errorf("%v\n%.3000s", err, out)
	}
}

// What the types refuse is in refused.ts.
func TestTypes(t *testing.T) { program(t, "tsc", "-p", "testdata") }

// The documents' TypeScript compiles.
func TestDocuments(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "keys.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```ts\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("docs/keys.md has no TypeScript")
	}
	module, err := filepath.Abs(filepath.Join(files, "snowkey.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		folder := t.TempDir()
		config := fmt.Sprintf(`{"compilerOptions": {"target": "es2022", "module": "es2022", "moduleResolution": "bundler", "strict": true, "noEmit": true, "types": [], "paths": {"snowkey": [%q]}}, "files": ["block.ts"]}`, module)
		for name, text := range map[string]string{"tsconfig.json": config, "block.ts": code} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		program(t, "tsc", "-p", folder)
	}
}

func TestSize(t *testing.T) {
	if n := len(program(t, "esbuild", "--minify", "--format=esm", filepath.Join(files, "snowkey.ts"))); n > 4096 {
		t.Errorf("%d bytes minified, want at most 4,096", n)
	}
}
