package readme

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	gen, err := openTraced(t.Context(), openSQL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(t.Context())
	handler, err := metricsHandler(gen)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gen.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if line := `snowkey_ids_issued_total{snowkey_namespace="default"} 1`; !strings.Contains(w.Body.String(), line) {
		t.Errorf("no %s in\n%s", line, w.Body)
	}
}
