package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The paths for probes.
const (
	alivePath = "/healthz"
	readyPath = "/readyz"
)

// The store is asked at most once in storeEvery, and has storeWithin to answer.
const (
	storeEvery  = time.Second
	storeWithin = 2 * time.Second
)

// health answers probes. The server is alive while it answers. It is ready if its store answers,
// until Drain is called.
type health struct {
	store    driver.Admin // nil: none, or it cannot be asked
	logger   *slog.Logger
	draining atomic.Bool

	mu    sync.Mutex
	asked time.Time
	err   error // of the store
}

type healthBody struct {
	Status string `json:"status"`
}

func (h *health) alive(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, "alive", nil)
}

func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.draining.Load():
		h.answer(w, r, "", refuse(http.StatusServiceUnavailable, "server", "", "is shutting down"))
	case h.ask() != nil: // the reason is in the log: it may name hosts
		h.answer(w, r, "", refuse(http.StatusServiceUnavailable, "store", "", "does not answer; see the server's log").after(storeEvery))
	default:
		h.answer(w, r, "ready", nil)
	}
}

func (h *health) answer(w http.ResponseWriter, r *http.Request, status string, refused *refusal) {
	if !allows(w, r, []string{http.MethodGet, http.MethodHead}) {
		refused = refuse(http.StatusMethodNotAllowed, "method", r.Method, "must be GET or HEAD")
	}
	if refused != nil {
		writeErrors(w, r, refused)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, r, http.StatusOK, healthBody{status})
}

// ask returns the error of the store. Everybody may ask for it, so the answer is kept for a moment.
// One probe asks, and the others wait.
func (h *health) ask() error {
	if h.store == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.asked.IsZero() && time.Since(h.asked) < storeEvery {
		return h.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin) // not that of one probe
	defer cancel()
	_, err := h.store.List(ctx, "readyz") // a namespace that is empty
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if err != nil && h.err == nil {
		h.logger.Error("the store does not answer", "error", err)
	} else if err == nil && h.err != nil {
		h.logger.Info("the store answers again")
	}
	h.asked, h.err = time.Now(), err
	return err
}
