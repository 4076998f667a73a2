package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/idtext"
	"github.com/seed-299c1d6b/snowkey/core"
)

// Limits of one request.
const (
	maxParsed = 1000
	maxBody   = 64 << 10
)

type parseBody struct {
	IDs []describe.ID `json:"ids"`
}

// parse decodes the IDs of the query or of a body.
func (s *server) parse(p *params, w http.ResponseWriter, r *http.Request) (any, error) {
	l := p.layout()
	format := p.format(idtext.Auto)
	texts := p.list("id")
	if r.Method == http.MethodPost {
		if len(texts) > 0 {
			p.wrong("id", strings.Join(texts, ", "), "must not be in the query of a POST")
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
		p.wrong("id", "", "must be given, once for each ID")
	case len(texts) > maxParsed:
		p.wrong("id", fmt.Sprintf("%d IDs", len(texts)), fmt.Sprintf("must be at most %d", maxParsed))
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	body, now := parseBody{}, time.Now()
	for i, text := range texts {
		id, found, err := idtext.Parse(text, format, l.Unsigned)
		if errors.As(err, new(*idtext.AmbiguousError)) {
			err = fmt.Errorf("%w: choose with format", err)
		}
		var described describe.ID
		if err == nil {
			described, err = describe.New(l, id, text, found, now, nil)
		}
		if err != nil {
			p.wrong(fmt.Sprintf("id[%d]", i), text, err.Error())
		}
		body.IDs = append(body.IDs, described)
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return body, nil
}

// readBody reads the IDs of a body: JSON, or text that idtext.Split splits.
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
		return idtext.Split(string(text)), nil
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
		return nil, refuse(http.StatusBadRequest, "body", "", "must be one JSON object with nothing after it")
	}
	texts := make([]string, len(ids.IDs))
	var errs []core.FieldError
	for i, raw := range ids.IDs {
		if raw[0] != '"' { // a number may have been rounded
			errs = append(errs, core.FieldError{Field: fmt.Sprintf("ids[%d]", i), Value: shorten(string(raw)), Reason: "must be a string: numbers above 2^53 lose digits"})
			continue
		}
		if err := json.Unmarshal(raw, &texts[i]); err != nil {
			return nil, bodyError(err)
		}
	}
	if errs != nil {
		return nil, &refusal{status: http.StatusBadRequest, errs: errs}
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
