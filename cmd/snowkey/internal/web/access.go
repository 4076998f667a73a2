package web

import (
	"log/slog"
	"net/http"
	"time"
)

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
