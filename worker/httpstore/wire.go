package httpstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The requests and results as they are written. Each is converted from and to its counterpart
// in package driver, which compiles only if their fields are the same.
type (
	claimRequest struct {
		Namespace        string `json:"namespace"`
		Layout           string `json:"layout"`
		WorkerIDs        int64  `json:"worker_ids"`
		Preferred        int64  `json:"preferred"`
		RequirePreferred bool   `json:"require_preferred"`
		Exclude          int64  `json:"exclude"`
		ClaimID          string `json:"claim_id"`
		Owner            string `json:"owner"`
		Now              int64  `json:"now"`
		FenceWindow      int64  `json:"fence_window"`
		MaxSkew          int64  `json:"max_skew"`
		Former           former `json:"former"`
	}
	former struct {
		Worker       int64  `json:"worker_id"`
		ClaimID      string `json:"claim_id"`
		FencingToken int64  `json:"fencing_token"`
		Unused       int64  `json:"unused"`
	}
	leaseResult struct {
		Worker       int64 `json:"worker_id"`
		FencingToken int64 `json:"fencing_token"`
		Start        int64 `json:"start"`
		Fence        int64 `json:"fence"`
		Forgot       bool  `json:"forgot"`
	}
	renewRequest struct {
		Namespace    string `json:"namespace"`
		Worker       int64  `json:"worker_id"`
		ClaimID      string `json:"claim_id"`
		FencingToken int64  `json:"fencing_token"`
		FenceWindow  int64  `json:"fence_window"`
		Keep         bool   `json:"keep"`
	}
	releaseRequest struct {
		Namespace    string `json:"namespace"`
		Worker       int64  `json:"worker_id"`
		ClaimID      string `json:"claim_id"`
		FencingToken int64  `json:"fencing_token"`
		Unused       int64  `json:"unused"`
	}
	listRequest struct {
		Namespace string `json:"namespace"`
	}
	listResult struct {
		Now       int64           `json:"now"`
		Server    string          `json:"server"`
		Namespace namespaceResult `json:"namespace"`
		Missing   bool            `json:"missing"`
		New       bool            `json:"new"`
		Count     int64           `json:"count"`
		Records   []listRecord    `json:"records"`
	}
	namespaceResult struct {
		Name        string `json:"namespace"`
		Layout      string `json:"layout"`
		FenceWindow int64  `json:"fence_window"`
		MaxSkew     int64  `json:"max_skew"`
		Incarnation string `json:"incarnation"`
		Since       int64  `json:"since"`
		Floor       int64  `json:"floor"`
		Seen        int64  `json:"seen"`
		Version     int64  `json:"version"`
	}
	listRecord struct {
		Worker       int64         `json:"worker_id"`
		ClaimID      string        `json:"claim_id"`
		FencingToken int64         `json:"fencing_token"`
		Start        int64         `json:"start"`
		Fence        int64         `json:"fence"`
		Owner        string        `json:"owner"`
		Status       driver.Status `json:"state"`
	}
	freeRequest struct {
		Namespace    string `json:"namespace"`
		Worker       int64  `json:"worker_id"`
		FencingToken int64  `json:"fencing_token"`
	}
	raiseRequest struct {
		Namespace   string `json:"namespace"`
		FenceWindow int64  `json:"fence_window"`
	}
	reserveRequest struct {
		Key string `json:"key"`
		N   int64  `json:"n"`
	}
	reserveResult struct {
		First int64 `json:"first"`
	}
	nothing struct{}
)

func (q claimRequest) toClaim() driver.Claim {
	return driver.Claim{
		Namespace: q.Namespace, Layout: q.Layout, WorkerIDs: q.WorkerIDs, Preferred: q.Preferred, RequirePreferred: q.RequirePreferred, Exclude: q.Exclude,
		ClaimID: q.ClaimID, Owner: q.Owner, Now: q.Now, FenceWindow: q.FenceWindow, MaxSkew: q.MaxSkew, Former: driver.Former(q.Former),
	}
}

func fromClaim(c driver.Claim) claimRequest {
	return claimRequest{
		c.Namespace, c.Layout, c.WorkerIDs, c.Preferred, c.RequirePreferred, c.Exclude,
		c.ClaimID, c.Owner, c.Now, c.FenceWindow, c.MaxSkew, former(c.Former),
	}
}

func (a listResult) toState() driver.State {
	st := driver.State{Now: a.Now, Server: a.Server, Namespace: driver.Namespace(a.Namespace), Missing: a.Missing, New: a.New, Count: a.Count}
	for _, rec := range a.Records {
		st.Records = append(st.Records, driver.Record(rec))
	}
	return st
}

func fromState(st driver.State) listResult {
	a := listResult{st.Now, st.Server, namespaceResult(st.Namespace), st.Missing, st.New, st.Count, make([]listRecord, len(st.Records))}
	for i, rec := range st.Records {
		a.Records[i] = listRecord(rec)
	}
	return a
}

// question and answer are the envelopes of requests and results.
type question[Q any] struct {
	ID      string `json:"id"`
	Request *Q     `json:"request"`
}

type answer[A any] struct {
	ID     string     `json:"id"`
	Result *A         `json:"result,omitempty"`
	Error  *wireError `json:"error,omitempty"`
}

const (
	maxRequest = 16 << 10
	maxReply   = 64 << 10
	maxList    = 64 << 20 // a hundred thousand records of the greatest length
	maxID      = 64
)

var errTrailing = errors.New("there is more text after the value")

// decode reads one JSON value that ends the input.
func decode(from io.Reader, to any, strict bool) error {
	d := json.NewDecoder(from)
	if strict { // a request with an unknown field must not be half understood
		d.DisallowUnknownFields()
	}
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		if err == nil {
			err = errTrailing
		}
		return err
	}
	return nil
}

// decodeRequest reads a request, all of whose fields must be there: a missing one would become
// the worker ID 0, or an instant.
func decodeRequest[Q any](raw json.RawMessage) (request Q, err error) {
	if err := checkFields(raw, reflect.TypeFor[Q]()); err != nil {
		return request, err
	}
	return request, decode(bytes.NewReader(raw), &request, true)
}

// checkFields returns an error unless a JSON object has all fields of a struct.
func checkFields(raw json.RawMessage, of reflect.Type) error {
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(raw, &sent); err != nil {
		return err
	}
	for i := range of.NumField() {
		name := of.Field(i).Tag.Get("json")
		value, ok := sent[name]
		if !ok || string(value) == "null" {
			return fmt.Errorf("the field %q is missing", name)
		}
		if inner := of.Field(i).Type; inner.Kind() == reflect.Struct {
			if err := checkFields(value, inner); err != nil {
				return err
			}
		}
	}
	return nil
}
