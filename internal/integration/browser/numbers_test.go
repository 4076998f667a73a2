package browser

import (
	"fmt"
	"strings"
	"testing"
)

// What is pasted is often more than IDs. If something of it cannot be read, the page offers to
// decode only the long numbers in it.
func TestLongNumbers(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	eval[bool](tb, today)
	const offered = "[...document.querySelectorAll('#ids-choices button')].map(b => b.textContent).join()"
	for _, c := range []struct{ text, want string }{
		{"https://discord.com/channels/41771983423143937/127121515262115840", "41771983423143937 127121515262115840"},
		{"<@!80351110224678912> wrote", "80351110224678912"},
		{`[{"id":"175928847299117063"},{"id":80351110224678912},{"id":"175928847299117063"}]`, "175928847299117063 80351110224678912"},
		{`{"user":{"id":"175928847299117063"},"text":"😀"}`, "175928847299117063"},
		{"id,name\n\"175928847299117063\",\"Smith, John\"", "175928847299117063"},
		{"175,928,847,299,117,063", "175928847299117063"},
		{"175.928.847.299.117.063", "175928847299117063"},
		{"175_928_847_299_117_063", "175928847299117063"},
		{"175\u202f928\u202f847\u202f299\u202f117\u202f063", "175928847299117063"},
		{"\u200f175928847299117063\u200e", "175928847299117063"},
		{"175928847299117063n;", "175928847299117063"},
		{"1.75928847299117063e17", ""},       // what is lost is not offered
		{"x 12345678901234 192.168.0.1", ""}, // too short
		{"9999999999999999999", ""},          // above the largest ID
		{"1,234,567,890,123 x", ""},          // too short
		{"18446744073709551615", ""},         // above the largest ID
		{"175928847299117063", ""},           // nothing is wrong
	} {
		want := ""
		switch ids := strings.Fields(c.want); len(ids) {
		case 0:
		case 1:
			want = "Decode only " + ids[0]
		default:
			want = fmt.Sprintf("Decode only the %d long numbers", len(ids))
		}
		tb.write("#ids", c.text)
		if got := eval[string](tb, offered); got != want {
			t.Errorf("%q: %q is offered, want %q", c.text, got, want)
			continue
		}
		if want == "" {
			continue
		}
		tb.settled(func() { tb.click("#ids-choices button") })
		if got := eval[string](tb, "document.getElementById('ids').value + ' ' + document.getElementById('ids-error').textContent + "+offered+" + document.activeElement.id"); got != strings.ReplaceAll(c.want, " ", "\n")+" ids" {
			t.Errorf("%q: decoded %q", c.text, got)
		}
	}
}
