package web

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
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
				// Not the query: it may hold the ids of rows.
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
	// CrossOriginProtection lets every GET pass. Here one uses up ids, so the API and the
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
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(local.String()) && !isOwnHost(r.Host, hosts) {
		return refuse(http.StatusMisdirectedRequest, "Host", r.Host,
			"over loopback this server answers to localhost and to IP addresses only; snowkey serve --host NAME adds the name of a proxy")
	}
	return nil
}

func loopback(address string) bool {
	ap, err := netip.ParseAddrPort(address)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// isOwnHost reports whether host is a name of this server. IP addresses are: DNS cannot
// redirect them.
func isOwnHost(host string, hosts []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	name := strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	_, err := netip.ParseAddr(name)
	return err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, name) })
}
