package etcdstore

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// time returns the time of the store's clock.
func (s *Store) time(ctx context.Context) (time.Time, error) {
	if s.clock == nil {
		return time.Now(), nil
	}
	now, err := s.clock(ctx)
	if err != nil {
		return now, fmt.Errorf("etcdstore: ask Config.Clock: %w", err)
	}
	return now, nil
}

// HTTPClock returns a Config.Clock that asks a member of etcd for its version over HTTP, and
// takes the time from the Date header of the answer, which has whole seconds. The endpoint is
// one of the client endpoints, or of --listen-client-http-urls, such as "https://etcd:2379".
// client has the certificates; nil: http.DefaultClient.
func HTTPClock(endpoint string, client *http.Client) func(ctx context.Context) (time.Time, error) {
	if client == nil {
		client = http.DefaultClient
	}
	return func(ctx context.Context) (time.Time, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(endpoint, "/")+"/version", nil)
		if err != nil {
			return time.Time{}, configError(core.FieldError{
				Field: "endpoint", Value: fmt.Sprintf("%.100q", endpoint), Reason: "must be the URL of a member: " + err.Error(),
			})
		}
		answer, err := client.Do(request)
		if err != nil {
			return time.Time{}, err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return time.Time{}, fmt.Errorf("%s answered with %s", request.URL.Redacted(), answer.Status)
		}
		date, err := http.ParseTime(answer.Header.Get("Date"))
		if err != nil {
			return time.Time{}, fmt.Errorf("%s sent no valid Date: %w", request.URL.Redacted(), err)
		}
		return date.Add(time.Second / 2), nil // the fraction was cut off
	}
}
