package httpstore

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A StoreError is any error of a server but those that driver.Store lists: its store failed, it
// rejected the request, or it is not a server of this package. Whether the request was carried
// out is unknown.
type StoreError struct {
	Verb    string // "claim"
	Status  int    // the HTTP status
	Message string // the server's text

	unsupported bool // the handler does not offer the verb
}

func (e *StoreError) Error() string {
	text := fmt.Sprintf("httpstore: %s: the server answered with %d %s: %s", e.Verb, e.Status, http.StatusText(e.Status), e.Message)
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		text += "; set Token to one that the server accepts"
	case e.Status == http.StatusNotFound || e.Status/100 == 3:
		text += "; set URL to that of the handler"
	}
	return text
}

// Permanent reports whether a retry makes no difference until somebody corrects the token, the
// URL, or a proxy in between. Then worker.Open does not ask again.
func (e *StoreError) Permanent() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return true
	}
	return e.Status/100 == 3 || e.Status/100 == 4
}

// Is reports whether the target is errors.ErrUnsupported and the handler does not offer the
// verb.
func (e *StoreError) Is(target error) bool {
	return target == errors.ErrUnsupported && e.unsupported
}

// The kinds of errors on the wire.
const (
	kindConfig     = "config"
	kindNoWorkerID = "no_worker_id"
	kindSkew       = "skew"
	kindLayout     = "layout"
	kindWindow     = "window"
	kindFloor      = "floor"
	kindDurability = "durability"
	kindForgotten  = "forgotten"
	kindNotHeld    = "not_held"
	kindLocked     = "locked"
	kindOther      = "other"
)

// wireError is an error as it is written: its kind, and the fields of that kind.
type wireError struct {
	Kind        string  `json:"kind"`
	Message     string  `json:"message"`
	FloorRaised bool    `json:"floor_raised,omitempty"` // see driver.Lease
	Fields      []field `json:"fields,omitempty"`
	Namespace   string  `json:"namespace,omitempty"`
	WorkerIDs   int64   `json:"worker_ids,omitempty"`
	Leased      int64   `json:"leased,omitempty"`
	Ahead       int64   `json:"ahead,omitempty"`
	Floor       int64   `json:"floor,omitempty"`
	Wait        int64   `json:"wait,omitempty"`
	Local       int64   `json:"local,omitempty"`
	Store       int64   `json:"store,omitempty"`
	Max         int64   `json:"max,omitempty"`
	Have        string  `json:"have,omitempty"`
	Want        string  `json:"want,omitempty"`
	HaveWindow  int64   `json:"have_window,omitempty"`
	WantWindow  int64   `json:"want_window,omitempty"`
	HaveSkew    int64   `json:"have_skew,omitempty"`
	WantSkew    int64   `json:"want_skew,omitempty"`
	Setting     string  `json:"setting,omitempty"`
	Value       string  `json:"value,omitempty"`
}

type field struct {
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

func encode(err error) *wireError {
	w := &wireError{Kind: kindOther, Message: err.Error()}
	var (
		config     *core.ConfigError
		noID       *driver.NoWorkerIDError
		skew       *driver.SkewError
		layout     *driver.LayoutError
		window     *driver.WindowError
		floor      *driver.FloorError
		durability *driver.DurabilityError
	)
	switch {
	case errors.As(err, &config):
		w.Kind = kindConfig
		for _, f := range config.Fields {
			w.Fields = append(w.Fields, field(f))
		}
	case errors.As(err, &noID):
		w.Kind, w.Namespace, w.WorkerIDs, w.Leased, w.Ahead, w.Wait = kindNoWorkerID, noID.Namespace, noID.WorkerIDs, noID.Leased, noID.Ahead, noID.Wait.Milliseconds()
	case errors.As(err, &skew):
		w.Kind, w.Local, w.Store, w.Max = kindSkew, skew.Local.UnixMilli(), skew.Store.UnixMilli(), skew.Max.Milliseconds()
	case errors.As(err, &layout):
		w.Kind, w.Namespace, w.Have, w.Want = kindLayout, layout.Namespace, layout.Have, layout.Want
	case errors.As(err, &window):
		w.Kind, w.Namespace, w.HaveWindow, w.WantWindow, w.HaveSkew, w.WantSkew = kindWindow, window.Namespace, window.HaveWindow, window.WantWindow, window.HaveSkew, window.WantSkew
	case errors.As(err, &floor):
		w.Kind, w.Namespace, w.Floor, w.Wait = kindFloor, floor.Namespace, floor.Floor, floor.Wait
	case errors.As(err, &durability):
		w.Kind, w.Setting, w.Value, w.Want = kindDurability, durability.Setting, durability.Value, durability.Want
	case errors.Is(err, driver.ErrForgotten):
		w.Kind = kindForgotten
	case errors.Is(err, driver.ErrNotHeld):
		w.Kind = kindNotHeld
	case errors.Is(err, driver.ErrLocked):
		w.Kind = kindLocked
	}
	return w
}

// status returns the HTTP status of the error.
func (w *wireError) status() int {
	switch w.Kind {
	case kindOther:
		return http.StatusInternalServerError
	case kindConfig:
		return http.StatusBadRequest
	}
	return http.StatusConflict
}

// decoded returns the error that encode was given.
func (w *wireError) decoded(verb string, status int) error {
	var err error
	switch w.Kind {
	case kindConfig:
		config := &core.ConfigError{Package: "worker"}
		for _, f := range w.Fields {
			config.Fields = append(config.Fields, core.FieldError(f))
		}
		err = config
	case kindNoWorkerID:
		err = &driver.NoWorkerIDError{Namespace: w.Namespace, WorkerIDs: w.WorkerIDs, Leased: w.Leased, Ahead: w.Ahead, Wait: milliseconds(w.Wait)}
	case kindSkew:
		err = &driver.SkewError{Local: time.UnixMilli(w.Local), Store: time.UnixMilli(w.Store), Max: milliseconds(w.Max)}
	case kindLayout:
		err = &driver.LayoutError{Namespace: w.Namespace, Have: w.Have, Want: w.Want}
	case kindWindow:
		err = &driver.WindowError{Namespace: w.Namespace, HaveWindow: w.HaveWindow, WantWindow: w.WantWindow, HaveSkew: w.HaveSkew, WantSkew: w.WantSkew}
	case kindFloor:
		err = &driver.FloorError{Namespace: w.Namespace, Floor: w.Floor, Wait: w.Wait}
	case kindDurability:
		err = &driver.DurabilityError{Setting: w.Setting, Value: w.Value, Want: w.Want}
	case kindForgotten:
		err = driver.ErrForgotten
	case kindNotHeld:
		err = driver.ErrNotHeld
	case kindLocked:
		err = driver.ErrLocked
	default:
		return &StoreError{Verb: verb, Status: status, Message: w.Message, unsupported: status == http.StatusNotImplemented}
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

// remoteError is a typed error to which the server's store has added text.
type remoteError struct {
	text string
	err  error
}

func (e *remoteError) Error() string { return e.text }

func (e *remoteError) Unwrap() error { return e.err }
