package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// How much one request may have taken apart.
const (
	maxParsed = 1000
	maxBody   = 64 << 10
)

type parseBody struct {
	IDs        []idBody        `json:"ids"`
	Difference *differenceBody `json:"difference,omitempty"` // where there are two ids
}

type idBody struct {
	Input      string         `json:"input"`
	ID         string         `json:"id"`                 // as a signed column has it
	Unsigned   string         `json:"unsigned,omitempty"` // of a negative id
	Hex        string         `json:"hex"`
	Base32     string         `json:"base32,omitempty"` // not of a negative id, as the next two
	Base58     string         `json:"base58,omitempty"`
	Base62     string         `json:"base62,omitempty"`
	Time       string         `json:"time"`
	Tick       string         `json:"tick"`
	Rollback   string         `json:"rollback"`
	Datacenter string         `json:"datacenter"`
	Worker     string         `json:"worker"`
	Sequence   string         `json:"sequence"`
	JavaScript javaScriptBody `json:"javascript"`
}

// javaScriptBody is what becomes of an id that JSON.parse reads as a number.
type javaScriptBody struct {
	Safe  bool   `json:"safe"`  // within 2^53-1: such a number is that of one id only
	Exact bool   `json:"exact"` // the number is the id, by luck if it is not safe; but see Value
	Value string `json:"value"` // as JavaScript writes the number: the fewest digits that it can be told by, and zeros
}

type differenceBody struct {
	IDs    string `json:"ids"` // the second less the first
	Ticks  string `json:"ticks"`
	TimeMs string `json:"time_ms"`
	Time   string `json:"time"`
}

// parse takes ids apart: those of the query, or of a body.
func (s *server) parse(w http.ResponseWriter, r *http.Request) (any, error) {
	p := newParams(r)
	l, _ := p.layout()
	form := p.choice("form", formAuto, formDecimal, formHex, form32, form58, form62)
	texts := p.list("id")
	if r.Method == http.MethodPost {
		if len(texts) > 0 {
			p.fault("id", strings.Join(texts, ", "), "must not stand in the query when ids are posted")
		}
		if err := p.end(); err != nil {
			return nil, err
		}
		var err error
		if texts, err = readBody(w, r); err != nil {
			return nil, err
		}
	}
	switch {
	case len(texts) == 0:
		p.fault("id", "", "must be given, once for each id")
	case len(texts) > maxParsed:
		p.fault("id", fmt.Sprintf("%d of them", len(texts)), fmt.Sprintf("must be at most %d at once", maxParsed))
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	body, ids := parseBody{}, make([]int64, len(texts))
	for i, text := range texts {
		id, err := readID(text, form, l.Unsigned)
		if err == nil {
			var parts core.Parts
			if parts, err = l.Decode(id); err == nil {
				ids[i] = id
				body.IDs = append(body.IDs, takenApart(text, id, l, parts))
				continue
			}
		}
		p.fault(fmt.Sprintf("id[%d]", i), text, reasonOf(err))
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if len(ids) == 2 {
		body.Difference = difference(l, ids[0], ids[1])
	}
	return body, nil
}

func reasonOf(err error) string {
	var ranged *core.RangeError
	if errors.As(err, &ranged) {
		return "is not of this layout: " + ranged.Limit
	}
	return err.Error()
}

// apart is what may stand between the ids of a text. The page's idtext.js parts them
// likewise.
const apart = " \t\r\n,;()[]{}|"

// readBody reads the ids of a request: JSON, or text with something of apart between.
func readBody(w http.ResponseWriter, r *http.Request) ([]string, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" && media != "text/plain" {
		return nil, refuse(http.StatusUnsupportedMediaType, "Content-Type", r.Header.Get("Content-Type"), "must be application/json or text/plain")
	}
	body := http.MaxBytesReader(w, r.Body, maxBody)
	if media == "text/plain" {
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, bodyError(err)
		}
		return strings.FieldsFunc(string(text), func(c rune) bool { return strings.ContainsRune(apart, c) }), nil
	}
	var ids struct {
		IDs []json.RawMessage `json:"ids"`
	}
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&ids); err != nil {
		return nil, bodyError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, refuse(http.StatusBadRequest, "body", "", "must hold one JSON object and nothing behind it")
	}
	texts := make([]string, len(ids.IDs))
	var faults []core.FieldError
	for i, raw := range ids.IDs {
		if raw[0] != '"' { // whoever wrote a number may have rounded it
			faults = append(faults, core.FieldError{Field: fmt.Sprintf("ids[%d]", i), Value: shorten(string(raw)), Reason: "must be a string: numbers lose digits above 2^53"})
			continue
		}
		if err := json.Unmarshal(raw, &texts[i]); err != nil {
			return nil, bodyError(err)
		}
	}
	if faults != nil {
		return nil, &refusal{http.StatusBadRequest, faults}
	}
	return texts, nil
}

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return refuse(http.StatusRequestEntityTooLarge, "body", "", fmt.Sprintf("must have at most %d bytes", maxBody))
	}
	return refuse(http.StatusBadRequest, "body", "", `must be {"ids": ["…", …]}: `+err.Error())
}

func takenApart(input string, id int64, l core.Layout, parts core.Parts) idBody {
	b := idBody{
		Input: input, ID: writeID(id, formDecimal), Hex: writeID(id, formHex), Time: formatTime(parts.Time),
		Tick:     strconv.FormatUint(tickOf(id, l), 10),
		Rollback: quote(parts.Rollback), Datacenter: quote(parts.Datacenter), Worker: quote(parts.Worker), Sequence: quote(parts.Sequence),
		JavaScript: javaScript(id),
	}
	if id < 0 {
		b.Unsigned = strconv.FormatUint(uint64(id), 10)
	} else {
		b.Base32, b.Base58, b.Base62 = sqltype.ID(id).Base32(), sqltype.ID(id).Base58(), sqltype.ID(id).Base62()
	}
	return b
}

// tickOf is an id's time as it stands in it.
func tickOf(id int64, l core.Layout) uint64 { return uint64(id) >> lowBits(l) }

func javaScript(id int64) javaScriptBody {
	number := float64(id)
	return javaScriptBody{
		Safe:  id >= -1<<53+1 && id <= 1<<53-1,
		Exact: number < 1<<63 && int64(number) == id,
		Value: strconv.FormatFloat(number, 'f', -1, 64),
	}
}

// difference is how far the second id is from the first.
func difference(l core.Layout, a, b int64) *differenceBody {
	x, y := uint64(a), uint64(b)
	ticksA, ticksB := tickOf(a, l), tickOf(b, l)
	sign := func(first, second uint64) (string, uint64) {
		if second < first {
			return "-", first - second
		}
		return "", second - first
	}
	minus, ids := sign(x, y)
	d := &differenceBody{IDs: minus + strconv.FormatUint(ids, 10)}
	minus, ticks := sign(ticksA, ticksB)
	d.Ticks = minus + strconv.FormatUint(ticks, 10)
	high, ms := bits.Mul64(ticks, uint64(l.Tick.Milliseconds()))
	if high == 0 { // else it is longer than 584 million years, and ticks say enough
		d.TimeMs, d.Time = minus+strconv.FormatUint(ms, 10), minus+formatSpan(ms)
	}
	return d
}
