package readme

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite"
)

func TestMetrics(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "ids.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	gen, err := openTraced(t.Context(), db)
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
