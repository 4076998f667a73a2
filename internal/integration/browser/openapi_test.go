package browser

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// described is a service and the description that it serves.
type described struct {
	t      *testing.T
	url    string
	doc    *openapi3.T
	router routers.Router
	seen   map[string]bool // operation and status
}

// describe reads the description of a service, which must be valid.
func describe(t *testing.T, url, path string) *described {
	t.Helper()
	response, err := http.Get(url + path)
	check(t, err)
	defer response.Body.Close()
	doc, err := openapi3.NewLoader().LoadFromIoReader(response.Body)
	check(t, err)
	check(t, doc.Validate(t.Context()))
	doc.Servers = openapi3.Servers{{URL: url}}
	router, err := legacy.NewRouter(doc)
	check(t, err)
	return &described{t, url, doc, router, map[string]bool{}}
}

// send sends a request and compares its answer with the description: one that is accepted must be
// valid there, and the answer has a status and fields of it. It reports whether the description
// accepts the request.
func (d *described) send(status int, method, target, body string, headers ...string) (header http.Header, valid bool) {
	d.t.Helper()
	name := method + " " + target[:min(len(target), 80)] + " " + body[:min(len(body), 80)]
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.url+target, strings.NewReader(body))
	check(d.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		key, value, _ := strings.Cut(h, ": ")
		request.Header.Set(key, value)
	}
	route, params, err := d.router.FindRoute(request)
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	input := &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route}
	invalid := openapi3filter.ValidateRequest(context.Background(), input)
	if invalid != nil && status < 400 {
		d.t.Errorf("%s: the description refuses it: %v", name, invalid)
	}
	request.Body, request.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	response, err := http.DefaultClient.Do(request)
	check(d.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(d.t, err)
	if response.StatusCode != status {
		d.t.Errorf("%s: status %d, want %d: %.300s", name, response.StatusCode, status, text)
	}
	conforms := func(text []byte) error {
		return openapi3filter.ValidateResponse(context.Background(), (&openapi3filter.ResponseValidationInput{
			RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Options: &openapi3filter.Options{IncludeResponseStatus: true},
		}).SetBodyBytes(text))
	}
	if err := conforms(text); err != nil {
		d.t.Errorf("%s: the description does not allow the answer %d %.300s: %v", name, response.StatusCode, text, err)
	}
	// The check can fail: an answer with a field too many does not pass.
	if more := bytes.Replace(text, []byte("{"), []byte(`{"more":1,`), 1); response.StatusCode == http.StatusOK && len(more) > len(text) && route.Path != "/api/openapi.json" && conforms(more) == nil {
		d.t.Errorf("%s: the description allows any answer", name)
	}
	d.seen[route.Operation.OperationID+" "+strconv.Itoa(response.StatusCode)] = true
	return response.Header, invalid == nil
}

// refuse sends a request that both the service and its description refuse.
func (d *described) refuse(status int, method, target, body string, headers ...string) {
	d.t.Helper()
	if _, valid := d.send(status, method, target, body, headers...); valid {
		d.t.Errorf("%s %s %.80s: the description accepts it", method, target, body)
	}
}

// complete fails the test if an operation has not had an answer with each of its statuses that are
// tested.
func (d *described) complete(tested func(status string) bool) {
	d.t.Helper()
	for path, item := range d.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if tested(status) && !d.seen[operation.OperationID+" "+status] {
					d.t.Errorf("%s %s: no answer was %s", method, path, status)
				}
			}
		}
	}
}

// The answers of the command's API match its description.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	d := describe(t, serve(t), "/api/openapi.json")
	for _, target := range []string{
		"layouts", "layouts?time_bits=40&worker_bits=13&sequence_bits=10&epoch=2026-01-01&tick=10ms&unsigned=true&sequence_first=true", "ids?worker=1&n=100&format=base58", "ids?worker=1&format=order_line_",
		"ids?worker=1&datacenter=2&time=2026-01-01&sequence=5&format=hex", "ids?worker=1&time=2090-01-01&time_bits=42&sequence_bits=12&worker_bits=10&unsigned=true", // negative
		"parse?id=1&id=0xff&preset=discord", "parse?id=ORD_1QDA147XJQ4AD&format=auto", "parse?id=-5&unsigned=true&time_bits=64", "range?from=2026-01-01", "range?from=2026-01-01&to=2026-02-01T12:00:00%2B01:00&column=o.id", "openapi.json",
	} {
		d.send(200, "GET", "/api/"+target, "")
	}
	d.send(200, "GET", "/healthz", "")
	d.send(200, "GET", "/readyz", "")
	for _, target := range []string{"layouts?preset=x", "ids", "ids?worker=1024&n=0&x=y", "parse?id=x", "range?from=x&column=;"} {
		d.send(400, "GET", "/api/"+target, "")
	}
	d.send(414, "GET", "/api/layouts?x="+strings.Repeat("x", 40_000), "")
	d.complete(func(status string) bool { return status == "200" })
}

// The service of the example and its openapi.yaml accept and refuse the same requests.
func TestOrdersMatchTheirDescription(t *testing.T) {
	t.Parallel()
	d := describe(t, start(t, "examples/jsonapi", "-addr", "127.0.0.1:0", "-db", filepath.Join(t.TempDir(), "orders.sqlite")), "/openapi.yaml")
	const tea = `{"customer":"Ada","note":"x","lines":[{"sku":"tea","quantity":2,"priceCents":450}]}`
	with := func(fields string) string { return strings.Replace(tea, "{", "{"+fields+",", 1) }
	header, _ := d.send(201, "POST", "/orders", tea, "Idempotency-Key: k")
	at := header.Get("Location")
	order := strings.TrimPrefix(at, "/orders/")
	d.send(201, "POST", "/orders", tea, "Idempotency-Key: k")
	d.send(422, "POST", "/orders", strings.Replace(tea, "Ada", "Eve", 1), "Idempotency-Key: k")
	d.send(201, "POST", "/orders", with(`"reorderOf":"`+strings.ToUpper(order)+`"`)) // as people type
	d.send(200, "GET", "/orders?limit=2&from=2020-01-01T00:00:00Z&to=2070-01-01T00:00:00Z", "")
	d.send(200, "GET", at, "")
	d.send(200, "GET", "/orders/"+strings.ToUpper(order), "")
	d.send(204, "GET", "/healthz", "")
	d.send(404, "GET", "/orders/ord_0000000000007", "")
	d.send(413, "POST", "/orders", strings.Replace(tea, "{", "{"+strings.Repeat(" ", 1<<16), 1))
	d.refuse(400, "POST", "/orders", "{")
	d.refuse(415, "POST", "/orders", tea, "Content-Type: text/plain")
	for _, body := range []string{
		"{}", `[]`, `{"customer":"Ada","lines":[]}`, strings.Replace(tea, "2,", "-2,", 1), strings.Replace(tea, "2,", "10001,", 1), strings.Replace(tea, "2,", `"2",`, 1), strings.Replace(tea, "450", "100000000", 1), strings.Replace(tea, "Ada", "", 1),
		strings.Replace(tea, "tea", strings.Repeat("t", 65), 1), strings.Replace(tea, `"note":"x"`, `"id":"7"`, 1), strings.Replace(tea, `"x"`, `"`+strings.Repeat("n", 1001)+`"`, 1),
		with(`"reorderOf":"x"`), with(`"reorderOf":1996573624012345677`), with(`"reorderOf":"line_1qda147xjq4ad"`),
	} {
		d.refuse(422, "POST", "/orders", body)
	}
	for _, target := range []string{"/orders/line_1qda147xjq4ad", "/orders?after=line_1qda147xjq4ad", "/orders/x", "/orders/-7", "/orders?limit=0", "/orders?limit=101", "/orders?from=yesterday"} {
		d.refuse(400, "GET", target, "")
	}
	d.refuse(400, "DELETE", "/orders/x", "")
	d.send(204, "DELETE", at, "")
	d.send(404, "DELETE", at, "")
	d.send(410, "POST", "/orders", tea, "Idempotency-Key: k")
	d.complete(func(status string) bool { return status != "503" }) // the example's own tests have a failing database
}
