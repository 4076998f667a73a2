package web

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// policy lets the page load its own files and ask its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const permissions = "accelerometer=(), camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), geolocation=(), gyroscope=(), " +
	"magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), usb=()"

// guard stands before everything: it sets the headers, refuses what comes from
// another site's page, logs, and lives through a panic.
func guard(next http.Handler, hosts []string, logger *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Permissions-Policy", permissions)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")

		start, seen := time.Now(), &statusWriter{ResponseWriter: w}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // it is that value which net/http knows
					panic(p)
				}
				logger.Error("a request panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				if seen.status == 0 {
					writeFaults(seen, r, refuse(http.StatusInternalServerError, "request", r.URL.Path, "the server failed; its log says why"))
				}
			}
			// Not the query: it may hold the ids of somebody's rows.
			logger.DebugContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path, "status", seen.status, "took", time.Since(start))
		}()
		if f := stranger(r, hosts); f != nil {
			writeFaults(seen, r, f)
			return
		}
		next.ServeHTTP(seen, r)
	})
}

// stranger tells why a request is refused unread: another site's page has sent it, or
// it comes under a name that this server does not have, as after DNS rebinding.
func stranger(r *http.Request, hosts []string) *refusal {
	// A link from elsewhere to the page is welcome; its request has nothing to answer
	// but the page.
	if path := r.URL.Path; strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, LeasesPath+"/") {
		const reason = "pages of other sites may not ask this server"
		site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
		switch {
		case site == "cross-site" || site == "same-site":
			return refuse(http.StatusForbidden, "Sec-Fetch-Site", site, reason)
		case site == "" && origin != "" && !sameHost(origin, r.Host): // an old browser
			return refuse(http.StatusForbidden, "Origin", origin, reason)
		}
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(local.String()) && !known(r.Host, hosts) {
		return refuse(http.StatusMisdirectedRequest, "Host", r.Host,
			"over loopback this server answers to localhost and to addresses only; snowkey serve --host NAME adds the name of a proxy")
	}
	return nil
}

func sameHost(origin, host string) bool {
	_, name, found := strings.Cut(origin, "://")
	return found && strings.EqualFold(name, host)
}

func loopback(address string) bool {
	ap, err := netip.ParseAddrPort(address)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// known reports whether the server may be asked under the name. An address is no name
// that DNS could lend to somebody.
func known(host string, hosts []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.Trim(name, "[]"), ".")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	name = strings.ToLower(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// statusWriter remembers how a request was answered.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
