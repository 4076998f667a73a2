package browser

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/seed-299c1d6b/snowkey/contrib/token"
)

// described is a service and the description that it serves.
type described struct {
	t      *testing.T
	url    string
	doc    *openapi3.T
	router routers.Router
	seen   map[string]bool // operation and status
}

// describe starts the service and reads its description.
func describe(t *testing.T, args ...string) *described {
	t.Helper()
	file := filepath.Join(t.TempDir(), "orders.sqlite")
	url := start(t, "examples/jsonapi", append(args, "-addr", "127.0.0.1:0", "-db", file)...)
	response, err := http.Get(url + "/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	doc.Servers = openapi3.Servers{{URL: url}}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &described{t, url, doc, router, map[string]bool{}}
}

// send sends a request, and compares it and its answer with the description: the request is
// valid in both or in neither, and the answer has a status and fields of the description.
func (d *described) send(valid bool, status int, method, target, body string, headers ...string) (header http.Header, text string) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.url+target, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	route, params, err := d.router.FindRoute(request)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, target, err)
	}
	input := &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route}
	if err := openapi3filter.ValidateRequest(context.Background(), input); (err == nil) != valid {
		d.t.Errorf("%s %s %.80s: to the description the request is %v", method, target, body, err)
	}
	request.Body = io.NopCloser(strings.NewReader(body))
	request.ContentLength = int64(len(body))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(response.Body); err != nil {
		d.t.Fatal(err)
	}
	if response.StatusCode != status {
		d.t.Errorf("%s %s %.80s: status %d, want %d: %s", method, target, body, response.StatusCode, status, answer.String())
	}
	output := (&openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}).SetBodyBytes(answer.Bytes())
	if err := openapi3filter.ValidateResponse(context.Background(), output); err != nil {
		d.t.Errorf("%s %s: to the description the answer %d %s is %v", method, target, response.StatusCode, answer.String(), err)
	}
	d.seen[route.Operation.OperationID+" "+strconv.Itoa(response.StatusCode)] = true
	return response.Header, answer.String()
}

// The service and its openapi.yaml accept and reject the same requests.
func TestOrdersMatchTheirDescription(t *testing.T) {
	t.Parallel()
	d := describe(t)
	checkIDs(t, d.doc)

	const tea = `{"customer":"Ada","note":"x","lines":[{"sku":"tea","quantity":2,"priceCents":450}]}`
	header, _ := d.send(true, 201, "POST", "/orders", tea, "Idempotency-Key: k")
	at := header.Get("Location")
	d.send(true, 201, "POST", "/orders", tea, "Idempotency-Key: k")
	d.send(true, 422, "POST", "/orders", strings.Replace(tea, "Ada", "Eve", 1), "Idempotency-Key: k")
	d.send(true, 201, "POST", "/orders", strings.Replace(tea, "{", `{"reorderOf":"`+strings.TrimPrefix(at, "/orders/")+`",`, 1))
	d.send(true, 201, "POST", "/orders", strings.Replace(tea, "{", `{"reorderOf":null,`, 1))
	d.send(true, 200, "GET", "/orders?limit=2&from=2020-01-01T00:00:00Z&to=2070-01-01T00:00:00Z", "")
	header, _ = d.send(true, 200, "GET", "/orders?after=ord_1qda147xjq4ad", "")
	d.send(true, 304, "GET", "/orders?after=ord_1qda147xjq4ad", "", "If-None-Match: "+header.Get("ETag"))
	d.send(true, 200, "GET", at, "")
	d.send(true, 304, "GET", at, "", `If-None-Match: "v1"`)
	d.send(true, 404, "GET", "/orders/ord_0000000000007", "")
	d.send(true, 200, "PATCH", at, `{"note":"y"}`, `If-Match: "v1"`)
	d.send(true, 412, "PATCH", at, `{"note":"y"}`, `If-Match: "v1"`)
	d.send(true, 404, "PATCH", "/orders/ord_0000000000007", `{"note":"y"}`, `If-Match: "v1"`)
	d.send(true, 403, "POST", "/orders", tea, "Sec-Fetch-Site: cross-site")
	d.send(true, 204, "GET", "/healthz", "")
	ada, _ := d.send(true, 201, "POST", "/customers", `{"name":"Ada"}`)
	customer := strings.TrimPrefix(ada.Get("Location"), "/customers/")
	d.send(true, 200, "GET", "/customers/"+customer, "")
	d.send(true, 304, "GET", "/customers/"+customer, "", "If-None-Match: "+ada.Get("ETag"))
	d.send(true, 404, "GET", "/customers/cus_0000000000007", "")
	d.send(true, 403, "POST", "/customers", `{"name":"Ada"}`, "Sec-Fetch-Site: cross-site")
	d.send(true, 413, "POST", "/customers", `{"name":"Ada"`+strings.Repeat(" ", 1<<16)+"}")
	d.send(true, 201, "POST", "/orders", strings.Replace(tea, "{", `{"customerId":"`+customer+`",`, 1))

	// The service reads these as well, for links from before and for people who type.
	d.send(true, 200, "GET", "/orders?after=1996573624012345677", "")
	d.send(true, 200, "GET", "/orders/"+strings.ToUpper(strings.TrimPrefix(at, "/orders/")), "")
	d.send(true, 200, "GET", "/customers/"+strings.ToUpper(customer), "")
	d.send(true, 201, "POST", "/orders", strings.Replace(tea, "{", `{"customerId":"`+strings.ToUpper(customer)+`","reorderOf":"`+strings.ToUpper(strings.TrimPrefix(at, "/orders/"))+`",`, 1))

	// Both reject these.
	for _, body := range []string{
		`{"customer":"Ada","lines":[]}`, `{"lines":[]}`, `[]`, `{}`,
		strings.Replace(tea, "2,", "-2,", 1), strings.Replace(tea, "2,", "10001,", 1), strings.Replace(tea, "2,", `"2",`, 1), strings.Replace(tea, "2,", "1.5,", 1),
		strings.Replace(tea, "450", "-1", 1), strings.Replace(tea, "450", "100000000", 1),
		strings.Replace(tea, "Ada", "", 1), strings.Replace(tea, `"Ada"`, "7", 1), strings.Replace(tea, "tea", strings.Repeat("t", 65), 1),
		strings.Replace(tea, `"note":"x"`, `"id":"7"`, 1), strings.Replace(tea, `"x"`, `"`+strings.Repeat("n", 1001)+`"`, 1),
		strings.Replace(tea, "{", `{"reorderOf":"x",`, 1), strings.Replace(tea, "{", `{"reorderOf":1996573624012345677,`, 1), strings.Replace(tea, "{", `{"customerId":7,`, 1),
	} {
		d.send(false, 422, "POST", "/orders", body)
	}
	d.send(false, 422, "POST", "/orders", strings.Replace(tea, "{", `{"reorderOf":"`+customer+`",`, 1))
	d.send(false, 400, "GET", "/orders/"+customer, "")
	d.send(false, 400, "GET", "/orders?after="+customer, "")
	d.send(false, 400, "GET", "/customers/"+strings.TrimPrefix(at, "/orders/"), "")
	d.send(false, 400, "POST", "/customers", "{")
	d.send(false, 415, "POST", "/customers", `{"name":"Ada"}`, "Content-Type: text/plain")
	d.send(false, 422, "POST", "/customers", `{}`)
	d.send(false, 400, "POST", "/orders", "{")
	d.send(false, 415, "POST", "/orders", tea, "Content-Type: text/plain")
	d.send(true, 413, "POST", "/orders", strings.Replace(tea, "{", "{"+strings.Repeat(" ", 1<<16), 1))
	d.send(true, 413, "PATCH", at, `{"note":"y"`+strings.Repeat(" ", 1<<16)+"}", "If-Match: *")
	d.send(false, 400, "PATCH", at, "{", "If-Match: *")
	d.send(true, 403, "PATCH", at, `{"note":"y"}`, "If-Match: *", "Sec-Fetch-Site: cross-site")
	d.send(true, 403, "DELETE", at, "", "If-Match: *", "Sec-Fetch-Site: cross-site")
	d.send(false, 400, "DELETE", "/orders/x", "", "If-Match: *")
	d.send(false, 422, "PATCH", at, `{}`, "If-Match: *")
	d.send(false, 428, "PATCH", at, `{"note":"y"}`)
	d.send(false, 415, "PATCH", at, `{"note":"y"}`, "If-Match: *", "Content-Type: text/plain")
	d.send(false, 428, "DELETE", at, "")
	for _, target := range []string{"/orders/x", "/orders/007", "/orders/-7", "/orders?limit=0", "/orders?limit=101", "/orders?limit=x", "/orders?after=x", "/orders?from=yesterday"} {
		d.send(false, 400, "GET", target, "")
	}
	d.send(true, 412, "DELETE", at, "", `If-Match: "v1"`)
	d.send(true, 204, "DELETE", at, "", `If-Match: "v2"`)
	d.send(true, 404, "DELETE", at, "", `If-Match: "v2"`)
	d.send(true, 410, "POST", "/orders", tea, "Idempotency-Key: k")
	for path, item := range d.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if status != "503" && !d.seen[operation.OperationID+" "+status] { // that is what tests with a failing database are for
					t.Errorf("%s %s: no answer was %s", method, path, status)
				}
			}
		}
	}
}

// The description also fits customers' ids that are tokens.
func TestSealedOrdersMatchTheirDescription(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte(token.GenerateSecret()), 0o600); err != nil {
		t.Fatal(err)
	}
	d := describe(t, "-keys", keys)
	header, _ := d.send(true, 201, "POST", "/customers", `{"name":"Ada"}`)
	at := header.Get("Location")
	customer := strings.TrimPrefix(at, "/customers/")
	if len(customer) != len("cus_")+22 {
		t.Errorf("no token: %s", customer)
	}
	d.send(true, 200, "GET", at, "")
	d.send(true, 201, "POST", "/orders", `{"customerId":"`+customer+`","customer":"Ada","lines":[{"sku":"tea","quantity":2,"priceCents":450}]}`)
	d.send(true, 200, "GET", "/orders", "")
	d.send(true, 400, "GET", "/customers/cus_"+strings.Repeat("0", 22), "") // only the service can know
	d.send(false, 400, "GET", "/orders/"+customer, "")
}

// checkIDs checks every schema that is or holds an id: each kind has a pattern of its own.
func checkIDs(t *testing.T, doc *openapi3.T) {
	t.Helper()
	kinds := map[string]string{} // of a property
	for name, schema := range doc.Components.Schemas {
		for property, p := range schema.Value.Properties {
			if !strings.HasSuffix(strings.ToLower(property), "id") && property != "reorderOf" {
				continue
			}
			if len(p.Value.AnyOf) > 0 && p.Ref == "" {
				p = p.Value.AnyOf[0]
			}
			kinds[name+"."+property] = strings.TrimPrefix(p.Ref, "#/components/schemas/")
		}
	}
	want := map[string]string{
		"Order.id": "OrderID", "Order.reorderOf": "OrderID", "Order.customerId": "CustomerID",
		"Line.id": "LineID", "Line.orderId": "OrderID", "Customer.id": "CustomerID",
		"NewOrder.reorderOf": "OrderRef", "NewOrder.customerId": "CustomerRef",
	}
	if !maps.Equal(kinds, want) {
		t.Errorf("ids are %v, want %v", kinds, want)
	}
	names := []string{"OrderID", "LineID", "CustomerID"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			schema := doc.Components.Schemas[name].Value
			for _, other := range names {
				err := schema.VisitJSON(doc.Components.Schemas[other].Value.Examples[0])
				if (err == nil) != (other == name) {
					t.Errorf("the example of %s is %v", other, err)
				}
			}
		})
	}
}
