package web

import (
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// policy lets the page load its own files and call its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const permissions = "accelerometer=(), camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), geolocation=(), gyroscope=(), " +
	"magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), usb=()"

// guard wraps all handlers: it sets the headers, rejects cross-site requests and foreign
// host names, and recovers from panics. Responses are complete before they are written,
// so a panic comes before that.
func guard(next http.Handler, hosts []string, logger *slog.Logger) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Permissions-Policy", permissions)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")

		defer func() {
			if p := recover(); p != nil {
				// Not the query: it may hold the IDs of rows.
				logger.Error("a request panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				writeErrors(w, r, internalError(r))
			}
		}()
		if f := reject(r, crossOrigin, hosts); f != nil {
			writeErrors(w, r, f)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// reject explains why a request is rejected unread, or returns nil.
func reject(r *http.Request, crossOrigin *http.CrossOriginProtection, hosts []string) *refusal {
	// CrossOriginProtection lets every GET pass. Here one uses up IDs, so the API and the
	// leases are checked as if each request were a POST; the page itself may be linked to.
	if path := r.URL.Path; strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, LeasesPath+"/") {
		post := *r
		post.Method = http.MethodPost
		if crossOrigin.Check(&post) != nil {
			return refuse(http.StatusForbidden, "Origin", r.Header.Get("Origin"), "cross-site browser requests are rejected")
		}
	}
	// After DNS rebinding the browser takes the request for one of the same origin, so
	// CrossOriginProtection cannot see it; the host name can.
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(local.String()) && !known(r.Host, hosts) {
		return refuse(http.StatusMisdirectedRequest, "Host", r.Host,
			"over loopback this server answers to localhost and to IP addresses only; snowkey serve --host NAME adds the name of a proxy")
	}
	return nil
}

func loopback(address string) bool {
	ap, err := netip.ParseAddrPort(address)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// known reports whether host is a name of this server. IP addresses are: DNS cannot
// redirect them.
func known(host string, hosts []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	name := strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	_, err := netip.ParseAddr(name)
	return err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// proxies are the addresses of the proxies whose X-Forwarded-For is believed.
type proxies []netip.Prefix

// client returns the address of the client: the sender's or, if that is a trusted proxy, the last
// one in X-Forwarded-For that is not. Each proxy appends the address that it has seen, so what is
// further to the left may be made up.
func (p proxies) client(r *http.Request) netip.Addr {
	address, _ := hop(r.RemoteAddr)
	if len(p) == 0 {
		return address
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trust(address); i-- {
		before, ok := hop(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		address = before
	}
	return address
}

func (p proxies) trust(address netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}

// hop reads an address with or without a port.
func hop(text string) (address netip.Addr, ok bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return address.Unmap().WithZone(""), err == nil
}

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

// logged writes a line for each request: at the level Info, or Debug if it is a probe. The query
// is left out, because it may contain the IDs of rows, and so are all headers.
func logged(next http.Handler, logger *slog.Logger, trusted proxies) http.Handler {
	if logger == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		answer := &recorder{ResponseWriter: w, status: http.StatusOK}
		defer func() { // also if the server aborts the response
			level := slog.LevelInfo
			if r.URL.Path == alivePath || r.URL.Path == readyPath {
				level = slog.LevelDebug
			}
			logger.LogAttrs(r.Context(), level, "request",
				slog.String("method", shorten(r.Method)), slog.String("path", shorten(r.URL.Path)), slog.Int("status", answer.status),
				slog.Int64("bytes", answer.bytes), slog.Duration("duration", time.Since(began)), slog.String("client", trusted.client(r).String()))
		}()
		next.ServeHTTP(answer, r)
	})
}

// recorder notes what is answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64 // of the body
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
