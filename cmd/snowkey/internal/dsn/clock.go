package dsn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/etcd"
)

// ErrNoClock is returned by Clock if the target uses this machine's clock.
var ErrNoClock = errors.New("has this machine's clock")

// Clock returns the target's time and its resolution.
func (t *Target) Clock(ctx context.Context) (now time.Time, resolution time.Duration, err error) {
	var micros int64
	switch t.Kind {
	case Postgres:
		err = t.DB.QueryRowContext(ctx, "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp())*1000000 AS bigint)").Scan(&micros)
	case MySQL:
		err = t.DB.QueryRowContext(ctx, "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))").Scan(&micros)
	case Redis:
		now, err = t.Redis.Time(ctx).Result()
		return now, time.Microsecond, err
	case Etcd:
		now, err = t.etcdClock(ctx)
		return now, time.Second, err
	case HTTP:
		now, err = dateOf(ctx, t.url)
		return now, time.Second, err
	default:
		return time.Time{}, 0, ErrNoClock
	}
	return time.UnixMicro(micros), time.Microsecond, err
}

// etcdClock asks the members in turn until one answers.
func (t *Target) etcdClock(ctx context.Context) (now time.Time, err error) {
	for _, endpoint := range t.Endpoints {
		if now, err = etcd.HTTPClock(endpoint, nil)(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return now, err
}

// dateOf returns the Date of a server's response, whatever its status.
func dateOf(ctx context.Context, url string) (time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return time.Time{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	defer answer.Body.Close()
	date, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("the response has no date: %w", err)
	}
	return date.Add(time.Second / 2), nil // it is truncated
}

// Offset is the difference of the target's clock from this machine's.
type Offset struct {
	Ahead     time.Duration // negative: it is behind
	Uncertain time.Duration // either way
	RoundTrip time.Duration
}

// Offset compares the clocks: the shortest of several round trips counts, and the
// target's reading is assumed to be in its middle.
func (t *Target) Offset(ctx context.Context, now func() time.Time, tries int) (Offset, error) {
	var best Offset
	for i := range tries {
		before, began := now(), time.Now()
		theirs, resolution, err := t.Clock(ctx)
		if err != nil {
			return Offset{}, err
		}
		trip := time.Since(began)
		if i == 0 || trip < best.RoundTrip {
			best = Offset{Ahead: theirs.Sub(before.Add(trip / 2)), Uncertain: trip/2 + resolution/2, RoundTrip: trip}
		}
	}
	return best, nil
}
