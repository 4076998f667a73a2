package httpstore

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A StoreError is what a server says that is none of package worker's errors: its
// store has failed, it does not take the request, or what answers is no server of
// this package. Whether the request was carried out is not known.
type StoreError struct {
	Verb    string // "claim"
	Status  int    // of HTTP
	Message string // what the server said
}

func (e *StoreError) Error() string {
	text := fmt.Sprintf("httpstore: %s: the server answers with %d %s: %s", e.Verb, e.Status, http.StatusText(e.Status), e.Message)
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		text += "; give it a token that the server knows"
	case e.Status == http.StatusNotFound || e.Status/100 == 3:
		text += "; the URL must be the one below which its handler is"
	}
	return text
}

// Permanent reports whether asking again makes no difference until somebody has
// mended something: the token, the URL, or what stands between here and the server.
// worker.Acquire does not ask again then.
func (e *StoreError) Permanent() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return true
	}
	return e.Status/100 == 3 || e.Status/100 == 4
}

// Is reports whether the target is errors.ErrUnsupported and the server does not
// offer what was asked for.
func (e *StoreError) Is(target error) bool {
	return target == errors.ErrUnsupported && e.Status == http.StatusNotImplemented
}

// The kinds of errors on the wire.
const (
	kindConfig   = "config"
	kindNoneFree = "none_free"
	kindSkew     = "skew"
	kindLayout   = "layout"
	kindLossy    = "lossy"
	kindLost     = "lost"
	kindUsedUp   = "used_up"
	kindTaken    = "taken"
	kindReleased = "released"
	kindOther    = "other"
)

// wireError is an error as it is written: its kind, and what that kind tells.
type wireError struct {
	Kind    string     `json:"kind"`
	Message string     `json:"message"`
	Faults  []fault    `json:"faults,omitempty"`
	Space   string     `json:"space,omitempty"`
	Name    string     `json:"name,omitempty"`
	Numbers int64      `json:"numbers,omitempty"`
	Held    int64      `json:"held,omitempty"`
	Ahead   int64      `json:"ahead,omitempty"`
	Wait    int64      `json:"wait,omitempty"`
	Local   int64      `json:"local,omitempty"`
	Store   int64      `json:"store,omitempty"`
	Max     int64      `json:"max,omitempty"`
	Have    string     `json:"have,omitempty"`
	Want    string     `json:"want,omitempty"`
	Setting string     `json:"setting,omitempty"`
	Value   string     `json:"value,omitempty"`
	Worker  int64      `json:"worker,omitempty"`
	Until   int64      `json:"until,omitempty"`
	Cause   *wireError `json:"cause,omitempty"`
}

type fault struct {
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

func encode(err error) *wireError {
	w := &wireError{Kind: kindOther, Message: err.Error()}
	var (
		config   *core.ConfigError
		noneFree *driver.NoWorkerIDError
		skew     *driver.SkewError
		layout   *driver.LayoutError
		lossy    *driver.DurabilityError
		lost     *worker.LostError
		usedUp   *driver.CounterExhaustedError
	)
	switch {
	case errors.As(err, &config):
		w.Kind = kindConfig
		for _, f := range config.Fields {
			w.Faults = append(w.Faults, fault{Field: f.Field, Value: f.Value, Reason: f.Reason})
		}
	case errors.As(err, &noneFree):
		w.Kind, w.Space, w.Numbers, w.Held, w.Ahead, w.Wait = kindNoneFree, noneFree.Namespace, noneFree.WorkerIDs, noneFree.Leased, noneFree.Ahead, noneFree.Wait.Milliseconds()
	case errors.As(err, &skew):
		w.Kind, w.Local, w.Store, w.Max = kindSkew, skew.Local.UnixMilli(), skew.Store.UnixMilli(), skew.Max.Milliseconds()
	case errors.As(err, &layout):
		w.Kind, w.Space, w.Have, w.Want = kindLayout, layout.Namespace, layout.Have, layout.Want
	case errors.As(err, &lossy):
		w.Kind, w.Setting, w.Value, w.Want = kindLossy, lossy.Setting, lossy.Value, lossy.Want
	case errors.As(err, &lost): // before ErrNotHeld, which it may be as well
		w.Kind, w.Space, w.Worker, w.Until = kindLost, lost.Namespace, lost.Worker, lost.Fence.UnixMilli()
		if lost.Err != nil {
			w.Cause = encode(lost.Err)
		}
	case errors.As(err, &usedUp):
		w.Kind, w.Name, w.Numbers = kindUsedUp, usedUp.Name, usedUp.WorkerIDs
	case errors.Is(err, driver.ErrNotHeld):
		w.Kind = kindTaken
	case errors.Is(err, worker.ErrReleased):
		w.Kind = kindReleased
	}
	return w
}

// status is the one that an error is sent with.
func (w *wireError) status() int {
	switch w.Kind {
	case kindOther:
		return http.StatusInternalServerError
	case kindConfig:
		return http.StatusBadRequest
	}
	return http.StatusConflict
}

// decoded is the error again.
func (w *wireError) decoded(verb string, status int) error {
	var err error
	switch w.Kind {
	case kindConfig:
		config := &core.ConfigError{Package: "worker"}
		for _, f := range w.Faults {
			config.Fields = append(config.Fields, core.FieldError{Field: f.Field, Value: f.Value, Reason: f.Reason})
		}
		err = config
	case kindNoneFree:
		err = &driver.NoWorkerIDError{Namespace: w.Space, WorkerIDs: w.Numbers, Leased: w.Held, Ahead: w.Ahead, Wait: milliseconds(w.Wait)}
	case kindSkew:
		err = &driver.SkewError{Local: time.UnixMilli(w.Local), Store: time.UnixMilli(w.Store), Max: milliseconds(w.Max)}
	case kindLayout:
		err = &driver.LayoutError{Namespace: w.Space, Have: w.Have, Want: w.Want}
	case kindLossy:
		err = &driver.DurabilityError{Setting: w.Setting, Value: w.Value, Want: w.Want}
	case kindLost:
		lost := &worker.LostError{Namespace: w.Space, Worker: w.Worker, Fence: time.UnixMilli(w.Until)}
		if w.Cause != nil {
			lost.Err = w.Cause.decoded(verb, status)
		}
		err = lost
	case kindUsedUp:
		err = &driver.CounterExhaustedError{Name: w.Name, WorkerIDs: w.Numbers}
	case kindTaken:
		err = driver.ErrNotHeld
	case kindReleased:
		err = worker.ErrReleased
	default:
		return &StoreError{Verb: verb, Status: status, Message: w.Message}
	}
	if w.Message == err.Error() {
		return err
	}
	return &remoteError{text: w.Message, err: err}
}

func milliseconds(n int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Millisecond)
	return time.Duration(min(max(n, -most), most)) * time.Millisecond
}

// remoteError is a typed error to which the server's store has added words.
type remoteError struct {
	text string
	err  error
}

func (e *remoteError) Error() string { return e.text }

func (e *remoteError) Unwrap() error { return e.err }
