package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-299c1d6b/snowkey/contrib/token"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A vector is an id and its token. The token is of package token.
type vector struct {
	Key, Type, ID, Token string
}

// vectors returns tokens of new keys, for types of all lengths.
func vectors(t *testing.T) (all []vector) {
	t.Helper()
	for _, typeName := range []string{"o", "order", strings.Repeat("x", 10), strings.Repeat("z", 26), strings.Repeat("order_line", 6)} {
		key := token.GenerateSecret()
		ring := must(token.New(token.Config{Keys: []token.Secret{must(token.ParseSecret(key))}}))
		sealer := must(ring.Sealer(typeName))
		for _, id := range []int64{0, 1, 1996573624012345677, math.MaxInt64, rand.Int64(), rand.Int64() >> 30} {
			text := must(sealer.AppendSeal(nil, sqltype.ID(id)))
			all = append(all, vector{key, typeName, fmt.Sprint(id), string(text)})
		}
	}
	return all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The page seals and opens as package token does, and refuses what it refuses.
func TestTokenVectors(t *testing.T) {
	t.Parallel()
	type bad struct{ Key, Type, Token, Says string }
	const (
		one   = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
		other = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	)
	ring := must(token.New(token.Config{Keys: []token.Secret{must(token.ParseSecret(one))}}))
	sealed := string(must(must(ring.Sealer("order")).AppendSeal(nil, 7)))
	changed := sealed[:21] + string("01"[(strings.IndexByte("01", sealed[21])+1)%2])
	refused := []bad{
		{one, "order", "", "it has 0 characters, not 22"},
		{one, "order", sealed[1:], "it has 21 characters, not 22"},
		{one, "order", changed, "of this key"},
		{one, "customer", sealed, `is not a token of type "customer" and of this key`},
		{other, "order", sealed, "of this key"},
		{one, "order", strings.Repeat("z", 22), `is not a token of type "order"`},
		{one, "order", sealed[:21] + "-", "other characters than digits of base62"},
	}
	keys := map[string]string{ // what is no key, and the error
		"": "64 hexadecimal digits", one[1:]: "64 hexadecimal digits", one + "0": "64 hexadecimal digits", "x " + one: "64 hexadecimal digits",
		strings.Repeat("0", 64): "32 random bytes", strings.Repeat("61", 31) + "62": "32 random bytes",
		"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh/": "64 hexadecimal digits", // its last bits are not zero
		one + " # newest": "", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=": "", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8": "", strings.ToUpper(one): "",
	}
	for key, says := range keys { // the same as in Go, for secrets alone
		if strings.ContainsAny(key, " ") {
			continue
		}
		if _, err := token.ParseSecret(key); (err == nil) != (says == "") {
			t.Errorf("%q: %v in Go", key, err)
		}
	}
	tb := page(t, serve(t), "")
	differ := eval[[]string](tb, fmt.Sprintf(`(async () => {
		const T = await import("./token.js");
		const differ = [];
		const outcome = async (f) => { try { return String(await f()); } catch (error) { return error.message + error.value; } };
		const [vectors, refused, keys] = %s;
		for (const v of vectors) {
			const sealer = await T.newSealer(T.parseKey(v.Key), v.Type);
			const token = await outcome(() => sealer.seal(BigInt(v.ID)));
			const id = await outcome(() => sealer.open(v.Token));
			if (token !== v.Token || id !== v.ID) differ.push(JSON.stringify(v) + ": the page seals " + token + " and opens " + id);
		}
		for (const v of refused) {
			const got = await outcome(async () => (await T.newSealer(T.parseKey(v.Key), v.Type)).open(v.Token));
			if (!got.includes(v.Says)) differ.push(JSON.stringify(v) + ": " + got);
		}
		for (const [key, says] of Object.entries(keys)) {
			const got = await outcome(() => T.parseKey(key).length);
			if (says === "" ? got !== "32" : !got.includes(says) || key && got.includes(key.slice(0, 12))) differ.push("key " + key + ": " + got);
		}
		return differ;
	})()`, must(json.Marshal([]any{vectors(t), refused, keys}))))
	for _, d := range differ {
		t.Error(d)
	}
}

// sealing fills fields of the section, and waits for its answers.
func (tb *tab) sealing(pairs ...string) {
	tb.t.Helper()
	for ; len(pairs) > 0; pairs = pairs[2:] { // each has its answer, which may come before the next is filled
		eval[bool](tb, "delete document.documentElement.dataset.sealed")
		tb.fill(pairs[0], pairs[1])
		tb.wait("document.documentElement.dataset.sealed")
	}
}

// Ids are sealed and opened with a key that is in its field only.
func TestTokens(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#tab=tokens")
	key := token.GenerateSecret()
	ring := must(token.New(token.Config{Keys: []token.Secret{must(token.ParseSecret(key))}}))
	text := string(must(must(ring.Sealer("order")).AppendSeal(nil, 1996573624012345677)))

	tb.sealing("#token-key", key, "#token-type", "order", "#token-texts", some+" ord_1qda147xjq4ad x")
	tb.has("#token-result", text, some, "Sealed 2 ids.")
	tb.has("#token-texts-error", "“x” is not an id")
	tb.sealing("#token-prefix", "ord")
	tb.has("#token-result", "ord_"+text)
	eval[bool](tb, "delete document.documentElement.dataset.sealed")
	tb.click("#token-open")
	tb.wait("document.documentElement.dataset.sealed")
	tb.sealing("#token-texts", "ORD_"+text+" "+text+" cus_"+text+" ord_"+text[:21])
	tb.has("#token-result", some, "Opened one token.")
	tb.has("#token-texts-error", "2 of 4 cannot be read (“"+text+"”, “cus_"+text+`”): each is not "ord_" and a token.`, "it has 21 characters, not 22")
	tb.sealing("#token-prefix", "", "#token-texts", text)
	tb.has("#token-result", some)

	// The key is nowhere else, and nothing was sent.
	if where := eval[string](tb, fmt.Sprintf(`(() => {
		const key = %q, found = [];
		if (location.href.includes(key)) found.push("the address");
		if (JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.cookie, window.name]).includes(key)) found.push("the storage");
		if (document.documentElement.outerHTML.includes(key)) found.push("the document");
		found.push(...performance.getEntriesByType("resource").map((r) => r.name).filter((name) => !/\/[a-z]+\.(js|css|svg)$/.test(name)));
		const field = document.getElementById("token-key");
		if (field.type !== "password" || field.autocomplete !== "off" || field.form || field.name) found.push("the field");
		return found.join();
	})()`, key)); where != "" {
		t.Errorf("the key is in %s", where)
	}
	tb.sealing("#token-key", key[1:])
	tb.has("#token-key-error", "must be 64 hexadecimal digits")
	if shown := tb.text("body"); strings.Contains(shown, key[8:24]) || strings.Contains(shown, some) {
		t.Errorf("a wrong key, or what another one opened, is shown: %s", shown)
	}
	tb.do(chromedp.Reload())
	tb.wait("document.documentElement.dataset.ready")
	if left := eval[string](tb, "['key', 'type', 'prefix', 'texts'].map((n) => document.getElementById('token-' + n).value).join('')"); left != "order"+some {
		t.Errorf("after a reload: %q", left)
	}
	tb.click("#token-make") // and the example is sealed
	tb.wait("document.querySelector('#token-result td')")
	tb.is("document.getElementById('token-key').value.length", "64")
}
