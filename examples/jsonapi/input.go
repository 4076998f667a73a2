package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Limits, so that no database refuses an order, and its total is exact as a JavaScript number:
// it stays far below 2^53.
const (
	maxBody     = 64 << 10
	maxLines    = 100
	maxQuantity = 10_000
	maxCents    = 99_999_999
	maxName     = 190
	maxNote     = 1000
	maxSKU      = 64
)

// draft is an order as a client sends it: without ids, except for one that refers to another order.
type draft struct {
	ReorderOf *string     `json:"reorderOf,omitempty"`
	Customer  string      `json:"customer"`
	Note      string      `json:"note"`
	Lines     []draftLine `json:"lines"`

	reorderOf *sqltype.Key[Order]
}

type draftLine struct {
	SKU        string `json:"sku"`
	Quantity   int64  `json:"quantity"`
	PriceCents int64  `json:"priceCents"`
}

func (d draft) order() *Order {
	o := &Order{ReorderOf: d.reorderOf, Customer: d.Customer, Note: d.Note, Lines: make([]Line, len(d.Lines))}
	for i, l := range d.Lines {
		o.Lines[i] = Line{SKU: l.SKU, Quantity: l.Quantity, PriceCents: l.PriceCents}
	}
	return o
}

// check reports all faults of a draft together.
func (d *draft) check() error {
	var faults []fault
	text := func(field, value string, least, most int) {
		// Databases count characters, and some refuse control characters.
		n := utf8.RuneCountInString(value)
		if n < least || n > most || strings.TrimSpace(value) != value || strings.ContainsFunc(value, unicode.IsControl) {
			faults = append(faults, fault{field, value, fmt.Sprintf("want %d to %d characters, no space at the ends and no control character", least, most)})
		}
	}
	number := func(field string, n, least, most int64) {
		if n < least || n > most {
			faults = append(faults, fault{field, strconv.FormatInt(n, 10), fmt.Sprintf("want a whole number from %d to %d", least, most)})
		}
	}
	if d.ReorderOf != nil {
		key, err := sqltype.ParseKey[Order](*d.ReorderOf)
		if err != nil {
			faults = append(faults, fault{"reorderOf", *d.ReorderOf, reason(err)})
		}
		d.reorderOf, *d.ReorderOf = &key, key.String() // all texts of one key give a draft the same digest
	}
	text("customer", d.Customer, 1, maxName)
	text("note", d.Note, 0, maxNote)
	if n := len(d.Lines); n < 1 || n > maxLines {
		faults = append(faults, fault{"lines", fmt.Sprintf("%d lines", n), fmt.Sprintf("want 1 to %d", maxLines)})
		return invalid(faults...)
	}
	for i, l := range d.Lines {
		at := fmt.Sprintf("lines[%d].", i)
		text(at+"sku", l.SKU, 1, maxSKU)
		number(at+"quantity", l.Quantity, 1, maxQuantity)
		number(at+"priceCents", l.PriceCents, 0, maxCents)
	}
	if faults != nil {
		return invalid(faults...)
	}
	return nil
}

// readJSON reads the body of a request into v: one JSON value of known fields, and nothing else.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	kind := r.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
		return newProblem(http.StatusUnsupportedMediaType, "", fault{"Content-Type", kind, "want application/json"})
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	if !utf8.Valid(body) {
		return bad(fault{"body", string(body), "is not UTF-8"})
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return jsonFault(body, err)
	}
	if rest := bytes.TrimSpace(body[dec.InputOffset():]); len(rest) > 0 {
		return bad(fault{"body", string(rest), "follows the JSON value"})
	}
	return nil
}

// jsonFault names the field that encoding/json refused.
func jsonFault(body []byte, err error) error {
	var kind *json.UnmarshalTypeError
	name, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.As(err, &kind):
		return invalid(fault{cmp.Or(kind.Field, "body"), kind.Value, "must not be of this type"})
	case unknown:
		return invalid(fault{strings.Trim(name, `"`), "", "there is no such field"})
	}
	return bad(fault{"body", string(body), err.Error()})
}

// pathKey reads the key in a path.
func pathKey(r *http.Request) (sqltype.Key[Order], error) { return parseKey("id", r.PathValue("id")) }

func parseKey(field, text string) (sqltype.Key[Order], error) {
	key, err := sqltype.ParseKey[Order](text)
	if err != nil {
		return 0, bad(fault{field, text, reason(err)})
	}
	return key, nil
}

// reason is why a string is no key, with the expected form. The string, which the error has in front
// of that, is in the fault already.
func reason(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return err.Error()
}

// readSpan reads the query of a list: limit, after, and the times from and to, which are bounds of
// ids.
func readSpan(layout core.Layout, query string) (p span, values url.Values, err error) {
	p = span{max: math.MaxInt64, limit: 20}
	if values, err = url.ParseQuery(query); err != nil {
		return p, nil, bad(fault{"query", query, err.Error()})
	}
	for name, all := range values {
		text := all[0]
		switch name {
		case "limit":
			if p.limit, err = strconv.Atoi(text); err != nil || p.limit < 1 || p.limit > 100 {
				return p, nil, bad(fault{name, text, "want a whole number from 1 to 100"})
			}
		case "after":
			after, err := parseKey(name, text)
			if err != nil {
				return p, nil, err
			}
			p.max = min(p.max, after.ID())
		case "from", "to":
			t, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return p, nil, bad(fault{name, text, "want a time like 2026-11-21T15:04:05Z; + is written %2B"})
			}
			first, err := layout.FirstAt(t)
			if err != nil {
				return p, nil, bad(fault{name, text, err.Error()})
			}
			if name == "from" {
				p.min = sqltype.ID(first)
			} else {
				p.max = min(p.max, sqltype.ID(first))
			}
		default:
			return p, nil, bad(fault{name, text, "there is no such parameter; want limit, after, from or to"})
		}
	}
	return p, values, nil
}
