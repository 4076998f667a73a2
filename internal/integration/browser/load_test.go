package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// The API under load: many connections draw ids of the same worker ID for a moment, or for
// SNOWKEY_LOAD. No request fails, and no id is issued twice. The test is not parallel, because
// others would change its figures.
func TestLoad(t *testing.T) {
	span := 400 * time.Millisecond
	if text := os.Getenv("SNOWKEY_LOAD"); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatalf("SNOWKEY_LOAD %q: %v", text, err)
		}
	}
	const connections = 32
	url := serve(t)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	for _, c := range []struct{ name, query string }{
		{"ids, one each", "api/ids?worker=1"},
		{"ids, 100 each", "api/ids?worker=2&n=100"},
		{"one ID decoded", "api/parse?id=1996573624012345677"},
	} {
		t.Run(c.name, func(t *testing.T) {
			type result struct {
				ids   []string
				took  []time.Duration
				fault error
			}
			results := make([]result, connections)
			began := time.Now()
			end := began.Add(span)
			var wg sync.WaitGroup
			for i := range results {
				wg.Go(func() {
					r := &results[i]
					for first := true; (first || time.Now().Before(end)) && r.fault == nil; first = false {
						start := time.Now()
						var ids []string
						ids, r.fault = draw(client, url+"/"+c.query)
						r.took = append(r.took, time.Since(start))
						if c.name != "one ID decoded" {
							r.ids = append(r.ids, ids...)
						}
					}
				})
			}
			wg.Wait()
			seconds := time.Since(began).Seconds() // which a busy machine makes more than the span
			var took []time.Duration
			seen := map[string]bool{}
			ids := 0
			for _, r := range results {
				if r.fault != nil {
					t.Error(r.fault)
				}
				took = append(took, r.took...)
				ids += len(r.ids)
				for _, id := range r.ids {
					if seen[id] {
						t.Errorf("%s comes twice", id)
					}
					seen[id] = true
				}
			}
			slices.Sort(took)
			t.Logf("%.0f requests a second, %.0f ids a second; half within %v, 99 of 100 within %v", float64(len(took))/seconds, float64(ids)/seconds,
				took[len(took)/2].Round(time.Microsecond), took[len(took)*99/100].Round(time.Microsecond))
		})
	}
}

// draw sends one request, and returns the ids of the answer.
func draw(client *http.Client, url string) ([]string, error) {
	answer, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s, %v: %.300s", url, answer.Status, err, text)
	}
	var body struct {
		IDs []json.RawMessage `json:"ids"`
	}
	if err := json.Unmarshal(text, &body); err != nil || len(body.IDs) == 0 {
		return nil, fmt.Errorf("%s: %v: %.300s", url, err, text)
	}
	ids := make([]string, len(body.IDs))
	for i, raw := range body.IDs {
		ids[i] = string(raw)
	}
	return ids, nil
}
