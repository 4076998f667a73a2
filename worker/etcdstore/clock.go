package etcdstore

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// time reads the clock with which claimants' clocks are compared.
func (s *Store) time(ctx context.Context) (time.Time, error) {
	if s.clock == nil {
		return time.Now(), nil
	}
	return bounded.Do(ctx, &s.calls, "etcdstore: ask the clock", func() (time.Time, error) {
		now, err := s.clock(ctx)
		if err != nil {
			err = fmt.Errorf("etcdstore: ask the clock: %w", err)
		}
		return now, err
	})
}

// Warnings says, if Config.Clock is nil, that claimants' clocks are not compared with any
// other. worker.Acquire logs it.
func (s *Store) Warnings(context.Context) ([]string, error) {
	if err := s.check(); err != nil || s.clock != nil {
		return nil, err
	}
	return []string{"etcd does not tell the time of day, and Config.Clock is not set: a clock that is wrong, or has leapt ahead, is not noticed, and its worker ID is not given again until that time has come; set Config.Clock, for example to HTTPClock"}, nil
}

// HTTPClock is a Config.Clock: it asks a member of an etcd for its version over
// HTTP and takes the time from the answer's Date header, which counts seconds.
// The endpoint is that of the clients, or of --listen-client-http-urls, such as
// "https://etcd:2379". client brings the certificates; nil: http.DefaultClient.
func HTTPClock(endpoint string, client *http.Client) func(ctx context.Context) (time.Time, error) {
	if client == nil {
		client = http.DefaultClient
	}
	return func(ctx context.Context) (time.Time, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(endpoint, "/")+"/version", nil)
		if err != nil {
			return time.Time{}, &core.ConfigError{Package: "etcdstore", Fields: []core.FieldError{{Field: "endpoint", Value: fmt.Sprintf("%.300q", endpoint), Reason: "must be the URL of a member: " + err.Error()}}}
		}
		answer, err := client.Do(request)
		if err != nil {
			return time.Time{}, err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return time.Time{}, fmt.Errorf("%s answers with %s", request.URL.Redacted(), answer.Status)
		}
		date, err := http.ParseTime(answer.Header.Get("Date"))
		if err != nil {
			return time.Time{}, fmt.Errorf("%s does not tell the time: %w", request.URL.Redacted(), err)
		}
		return date.Add(time.Second / 2), nil // it was cut off
	}
}
