package browser

import (
	"fmt"
	"maps"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
)

// A link may come from an attacker: what it holds is shown as text, and changes neither the
// page nor what it may load.
func TestHostileLink(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	n := 0
	for _, evil := range []string{
		`"><img src=x onerror="document.title='bad'">`, `<script>document.title='bad'</script>`, `javascript:document.title='bad'`, `{{constructor.constructor('bad')()}}`,
		"';DROP TABLE orders;--", "\u202e\u0000\ufeff",
	} {
		t.Run(evil, func(t *testing.T) {
			state := url.Values{"__proto__": {evil}, "constructor": {evil}, "ready": {evil}}
			for _, name := range []string{"preset", "epoch", "tick", "time_bits", "worker_bits", "sequence_first", "ids", "format", "datacenter", "count", "time", "from", "to", "column", "dialect", "a", "b", "by", "tab", "rate", "until"} {
				state.Set(name, evil)
			}
			for _, also := range []url.Values{{}, {"epoch": {"2020-01-01"}, "tick": {"1ms"}, "time_bits": {"41"}, "worker_bits": {"5"}, "from": {"2026-01-01"}, "to": {"2026-02-01"}}} {
				maps.Copy(state, also)
				n++
				state.Set("worker", fmt.Sprint(evil, n))
				tb.visit(state.Encode(), fmt.Sprintf("document.getElementById('worker').value.endsWith('%d')", n))
				eval[bool](tb, "document.getElementById('generate-form').requestSubmit(), true")
				if got := eval[string](tb, "document.title + ' ' + [document.images.length, document.scripts.length, Object.keys(Object.prototype).length]"); got != "snowkey: decode and generate Snowflake IDs 1,1,0" {
					t.Errorf("%q: %s", evil, got)
				}
				if sql := eval[string](tb, "document.querySelector('.sql')?.textContent ?? ''"); sql != "" {
					t.Errorf("%q becomes SQL: %s", evil, sql)
				}
			}
		})
	}
}

// visit follows a link to another state of the page, and waits until it is loaded.
func (tb *tab) visit(state, there string) {
	tb.t.Helper()
	eval[bool](tb, fmt.Sprintf("location.hash = %q, true", state))
	tb.wait(there)
}

// A link restores layouts of every kind.
func TestLinkOfOddLayouts(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	for i, layout := range []string{
		"preset=sonyflake", "preset=javascript-safe",
		"epoch=0001-01-01T00:00:00.001Z&tick=1ms&time_bits=1",
		"epoch=9999-12-31T23:59:59.999Z&tick=1000ms&time_bits=30&rollback_bits=1&sequence_bits=32&unsigned=true",
		"epoch=1969-07-20T20:17:40.000Z&tick=86400000ms&time_bits=20&datacenter_bits=3&worker_bits=7&sequence_bits=9&sequence_first=true",
		"epoch=1970-01-01T00:00:00.000Z&time_bits=64&unsigned=true",
	} {
		t.Run(layout, func(t *testing.T) {
			tb.visit(fmt.Sprintf("%s&ids=1+0&a=0&b=1&worker=%d", layout, i), fmt.Sprintf("document.getElementById('worker').value === '%d'", i))
			const values = "JSON.stringify([...document.querySelectorAll('#tab-layout input, #tab-layout select')].map(e => [e.id, e.type === 'checkbox' ? e.checked : e.value]))"
			tb.show()
			fields, figures := eval[string](tb, values), tb.text("#figures")
			tb.write("#ids", "1 0 1") // so that the page writes the address itself
			tb.do(chromedp.Reload())
			tb.wait("document.documentElement.dataset.ready && document.getElementById('ids').value === '1 0 1'")
			tb.show()
			if again := eval[string](tb, values); again != fields {
				t.Errorf("%s: %s\nbecomes\n%s", layout, fields, again)
			}
			if again := tb.text("#figures"); again != figures {
				t.Errorf("%s: %s\nbecomes\n%s", layout, figures, again)
			}
			if n := eval[int](tb, "document.querySelectorAll('tr[data-i]').length"); n != 3 {
				t.Errorf("%s: %d of 3 ids", layout, n)
			}
		})
	}

	// As in the API, a link may override fields of a preset.
	tb.visit("preset=discord&worker_bits=6&sequence_bits=11", "document.getElementById('worker').value === '0'")
	tb.show()
	tb.has("#figures", "2015-01-01 00:00:00.000 UTC", "Datacenter 5 bits", "Worker 6 bits", "Sequence 11 bits", "2,048,000")
	// An unknown preset is an error: the ids would not show it.
	tb.visit("preset=Disqord&ids=1", "document.getElementById('ids').value === '1'")
	tb.show()
	for _, id := range []string{"preset", "layout-preset"} {
		tb.has("#"+id+"-error", "“Disqord”", "not a preset")
		if !eval[bool](tb, "document.getElementById('"+id+"').ariaInvalid === 'true'") {
			t.Error("the field is not marked")
		}
	}
	tb.choose("#preset", "discord")
	if said := eval[string](tb, "document.getElementById('preset-error').textContent"); said != "" {
		t.Error(said)
	}
}

// Pasted lists are read: JSON, a list of SQL, a table of psql.
func TestPastedLists(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "#preset=twitter")
	for _, text := range []string{
		"[\"" + some + "\", \"1\"]", "IN (" + some + ",1)", "| " + some + " |\n| 1 |", "{" + some + ",1}", "'" + some + "'\n'1'", "`" + some + "`;`1`",
	} {
		tb.write("#ids", text)
		if got := eval[string](tb, "[...document.querySelectorAll('tr[data-i] th')].map(h => h.textContent).join()"); got != some+",1" {
			t.Errorf("%q is read as %q", text, got)
		}
	}
	tb.show()
	tb.write("#from", "", "#to", "2026-01-01")
	tb.has("#from-error", "must be given")
	tb.write("#b", "zz", "#a", fmt.Sprint(1))
	tb.has("#b-error", "This is not an ID")
}
