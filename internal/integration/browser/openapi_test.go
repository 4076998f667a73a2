package browser

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// The description of the API is valid, and every answer matches it, also those to bad
// input.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	url := serve(t)
	answer, err := http.Get(url + "/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", answer.StatusCode, err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	doc.Servers = openapi3.Servers{{URL: url}}
	answered := map[string]bool{}
	for _, c := range []struct {
		method, target, media, body string
		status                      int
	}{
		{"GET", "/api/layouts", "", "", 200},
		{"GET", "/api/layouts?preset=sonyflake", "", "", 200},
		{"GET", "/api/layouts?time_bits=40&worker_bits=13&sequence_bits=10&epoch=2026-01-01&tick=10ms&unsigned=true&sequence_first=true", "", "", 200},
		{"GET", "/api/ids?worker=1", "", "", 200},
		{"GET", "/api/ids?worker=1&n=100&format=base58", "", "", 200},
		{"GET", "/api/ids?worker=1&format=order_line_", "", "", 200},
		{"GET", "/api/ids?worker=1&datacenter=2&time=2026-01-01&sequence=5&format=hex", "", "", 200},
		{"GET", "/api/ids?worker=1&time=2090-01-01&time_bits=42&sequence_bits=12&worker_bits=10&unsigned=true", "", "", 200}, // negative
		{"GET", "/api/parse?id=1996573624012345677", "", "", 200},
		{"GET", "/api/parse?id=1&id=0xff&preset=discord", "", "", 200},
		{"GET", "/api/parse?id=ORD_1QDA147XJQ4AD&format=auto", "", "", 200},
		{"GET", "/api/parse?id=ord_1qda147xjq4ad&format=ord_", "", "", 200},
		{"GET", "/api/parse?id=-5&unsigned=true&time_bits=64", "", "", 200},
		{"POST", "/api/parse", "application/json", `{"ids":["1996573624012345677","7","8"]}`, 200},
		{"POST", "/api/parse?format=hex", "text/plain", "ff\n1bb5404d9b33914d", 200},
		{"GET", "/api/range?from=2026-01-01", "", "", 200},
		{"GET", "/api/range?from=2026-01-01&to=2026-02-01T12:00:00%2B01:00&column=o.id", "", "", 200},
		{"GET", "/api/openapi.json", "", "", 200},
		{"GET", "/healthz", "", "", 200},
		{"GET", "/readyz", "", "", 200},
		{"GET", "/api/layouts?preset=x", "", "", 400},
		{"GET", "/api/ids", "", "", 400},
		{"GET", "/api/ids?worker=1024&n=0&x=y", "", "", 400},
		{"GET", "/api/parse?id=x", "", "", 400},
		{"POST", "/api/parse", "application/json", `{"ids":[1]}`, 400},
		{"POST", "/api/parse", "text/plain", strings.Repeat("1 ", 40_000), 413},
		{"POST", "/api/parse", "application/xml", "<ids/>", 415},
		{"GET", "/api/range?from=x&column=;", "", "", 400},
		{"GET", "/api/layouts?x=" + strings.Repeat("x", 40_000), "", "", 414},
	} {
		t.Run(c.method+" "+c.target+" "+c.body, func(t *testing.T) {
			name := c.method + " " + c.target[:min(len(c.target), 100)]
			r, err := http.NewRequestWithContext(t.Context(), c.method, url+c.target, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if c.media != "" {
				r.Header.Set("Content-Type", c.media)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if err != nil || answer.StatusCode != c.status {
				t.Errorf("%s: %d, want %d; %v %.200s", name, answer.StatusCode, c.status, err, text)
				return
			}
			item := doc.Paths.Value(r.URL.Path)
			if item == nil || item.GetOperation(c.method) == nil {
				t.Errorf("%s is not described", name)
				return
			}
			route := &routers.Route{Spec: doc, Path: r.URL.Path, PathItem: item, Method: c.method, Operation: item.GetOperation(c.method)}
			answered[route.Operation.OperationID] = true
			r.Body = io.NopCloser(strings.NewReader(c.body))
			question := &openapi3filter.RequestValidationInput{Request: r, Route: route}
			if c.status == http.StatusOK { // then the description must allow the question as well
				if err := openapi3filter.ValidateRequest(t.Context(), question); err != nil {
					t.Errorf("%s: the question: %v", name, err)
				}
			}
			if err := conforms(t.Context(), question, answer, text); err != nil {
				t.Errorf("%s: the answer: %v", name, err)
			}
			// The check can fail: an answer with a field too many does not pass.
			if c.status == http.StatusOK && route.Path != "/api/openapi.json" {
				if conforms(t.Context(), question, answer, bytes.Replace(text, []byte("{"), []byte(`{"more":1,`), 1)) == nil {
					t.Errorf("%s: the description allows any answer", name)
				}
			}
		})
	}
	for _, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !answered[op.OperationID] {
				t.Errorf("%s %s was not asked", method, op.OperationID)
			}
		}
	}
}

func conforms(ctx context.Context, question *openapi3filter.RequestValidationInput, answer *http.Response, text []byte) error {
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: question, Status: answer.StatusCode, Header: answer.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	in.SetBodyBytes(text)
	return openapi3filter.ValidateResponse(ctx, in)
}
