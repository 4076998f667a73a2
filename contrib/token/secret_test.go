package token

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestParseSecret(t *testing.T) {
	raw := unhex(t, text1)
	for _, text := range []string{text1, " \t" + text1 + "\r\n", base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw) + "\n"} {
		if s, err := ParseSecret(text); err != nil || !s.equal(secret(t, text1)) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	again := base64.RawStdEncoding.EncodeToString(raw)
	for name, text := range map[string]string{
		"empty":          "",
		"hex of 31":      text1[:62],
		"hex of 33":      text1 + "00",
		"base64 of 31":   base64.StdEncoding.EncodeToString(raw[:31]),
		"base64 of 33":   base64.StdEncoding.EncodeToString(append(raw, 0)),
		"bits beyond":    again[:len(again)-1] + "B", // the last digit has two bits too many
		"a line between": text1[:32] + "\n" + text1[32:],
		"zeros":          strings.Repeat("0", 64),
		"hex of text":    fmt.Sprintf("%x", text1[:32]),
		"huge":           strings.Repeat("a", 1e6),
	} {
		s, err := ParseSecret(text)
		if !s.isZero() || err == nil || len(text) > 3 && strings.Contains(err.Error(), text[:4]) { // it quotes nothing
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

func TestNewSecret(t *testing.T) {
	raw := unhex(t, text1)
	s, err := NewSecret(raw)
	if clear(raw); err != nil || !s.equal(secret(t, text1)) {
		t.Errorf("%v, %v, which is no copy", s, err)
	}
	for _, b := range [][]byte{nil, raw[:31], append(unhex(t, text1), 1)} {
		if s, err := NewSecret(b); !s.isZero() || err == nil {
			t.Errorf("%d bytes: %v, %v", len(b), s, err)
		}
	}
}

// However a value is printed, logged or encoded, on its own or within another, and by
// reflection, no secret and no key that is derived from it shows.
func TestNothingShows(t *testing.T) {
	cfg := Config{Keys: []Secret{secret(t, text1), secret(t, text2)}}
	r := mustRing(t, cfg)
	values := map[string]any{
		"Secret": cfg.Keys[0], "zero Secret": Secret{}, "Config": cfg, "*Config": &cfg,
		"Ring": *r, "*Ring": r, "Sealer": *sealerOf(t, r, "order"), "*Sealer": sealerOf(t, r, "order"),
	}
	var hidden [][]byte
	for _, text := range []string{text1, text2} {
		hidden = append(hidden, unhex(t, text))
		for _, purpose := range []string{"long key", "long type order"} {
			b, err := secret(t, text).derive(purpose, 8)
			must(t, err)
			hidden = append(hidden, b)
		}
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for _, v := range []any{v, []any{v}, map[string]any{"k": v}, struct{ V any }{v}, struct{ v any }{v}, fmt.Errorf("%v", v)} {
				for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%o", "%b", "%T", "%p"} {
					texts = append(texts, fmt.Sprintf(verb, v))
				}
				js, err := json.Marshal(v)
				texts = append(texts, string(js), fmt.Sprint(err))
				x, err := xml.Marshal(v)
				texts = append(texts, string(x), fmt.Sprint(err))
				var log bytes.Buffer
				_ = gob.NewEncoder(&log).Encode(v)
				slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", v)
				slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", v)
				texts = append(texts, log.String())
			}
			for _, text := range texts {
				for _, b := range hidden {
					if shows(text, b) {
						t.Fatalf("%.300q", text)
					}
				}
			}
		})
	}
}

// shows reports whether the first eight bytes of b can be read in text.
func shows(text string, b []byte) bool {
	b = b[:8]
	lower := strings.ToLower(text)
	for _, written := range []string{
		string(b), fmt.Sprintf("%x", b), fmt.Sprintf("% x", b), strings.Trim(fmt.Sprintf("%v", b), "[]"), strings.Trim(fmt.Sprintf("%q", b), `"`),
		strings.ReplaceAll(strings.Trim(fmt.Sprintf("%v", b), "[]"), " ", ","), strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", b), "[]byte{"), "}"),
		base64.StdEncoding.EncodeToString(b)[:10],
		// As words, in which a cipher holds its key.
		fmt.Sprint(binary.BigEndian.Uint64(b)), fmt.Sprint(binary.LittleEndian.Uint64(b)),
		fmt.Sprint(binary.BigEndian.Uint32(b)), fmt.Sprint(binary.LittleEndian.Uint32(b)),
		fmt.Sprintf("%x", binary.LittleEndian.Uint32(b)),
	} {
		if strings.Contains(text, written) || strings.Contains(lower, strings.ToLower(written)) {
			return true
		}
	}
	return false
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	must(t, err)
	return b
}
