package web

import (
	"math"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limits limits the requests of each client address. Their number is bounded: an address that
// has its full burst again is forgotten, which changes nothing for it, and if there is none,
// further addresses share one limit.
type limits struct {
	rate  rate.Limit
	burst int
	size  int // the most addresses

	mu     sync.Mutex
	all    map[netip.Prefix]*rate.Limiter
	others *rate.Limiter
	swept  time.Time
}

// newLimits returns the limits for a number of requests a second; bursts are those of one second.
func newLimits(perSecond float64, size int) *limits {
	l := &limits{rate: rate.Limit(perSecond), burst: int(math.Ceil(min(perSecond, math.MaxInt32))), size: size, all: map[netip.Prefix]*rate.Limiter{}}
	l.others = rate.NewLimiter(l.rate, l.burst)
	return l
}

// check refuses a request that comes too early. Nil limits refuse none.
func (l *limits) check(client netip.Addr, now time.Time) *refusal {
	if l == nil {
		return nil
	}
	r := l.of(client, now).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return refuse(http.StatusTooManyRequests, "client", client.String(), "has sent too many requests").after(wait)
}

// of returns the limit of an address. Addresses of one network of IPv6 share it, because one
// client may have all of them.
func (l *limits) of(client netip.Addr, now time.Time) *rate.Limiter {
	bits := client.BitLen()
	if client.Is6() {
		bits = 64
	}
	key, _ := client.Prefix(bits) // of an unknown address: the zero one
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.all[key]; found != nil {
		return found
	}
	if len(l.all) >= l.size && now.Sub(l.swept) >= time.Second {
		l.swept = now
		for k, limiter := range l.all {
			if limiter.TokensAt(now) >= float64(l.burst) {
				delete(l.all, k)
			}
		}
	}
	if len(l.all) >= l.size {
		return l.others
	}
	limiter := rate.NewLimiter(l.rate, l.burst)
	l.all[key] = limiter
	return limiter
}
