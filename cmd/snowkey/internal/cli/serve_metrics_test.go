package cli

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Metrics are on their own address, also while the server drains, and on no other.
func TestServeMetrics(t *testing.T) {
	url, said, end := startServe(t, Env{}, "--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0")
	m := regexp.MustCompile(`metrics at (http://127\.0\.0\.1:\d+)/metrics`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("it says %q", said)
	}
	for target, want := range map[string]int{
		url + "/api/ids?worker=1&n=3": 200, url + "/metrics": 404, url + "/healthz": 200, m[1] + "/api/ids?worker=1": 404, m[1] + "/healthz": 404,
	} {
		if status, body := get(t, target); status != want {
			t.Errorf("%s: %d, want %d: %s", target, status, want, body)
		}
	}
	status, body := get(t, m[1]+"/metrics")
	for _, line := range []string{"snowkey_serve_ids_issued_total 3", "snowkey_serve_ready 1", "go_goroutines ", "process_start_time_seconds ", "go_build_info"} {
		if status != http.StatusOK || !strings.Contains(body, line) {
			t.Errorf("%d, no %s", status, line)
		}
	}
	if code := end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// get returns the status of an answer, or 0 if there is none, and its body.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(text)
}
