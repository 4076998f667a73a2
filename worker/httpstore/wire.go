package httpstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// The requests and results as they are written. Each is converted from and to its counterpart
// in package driver, which compiles only if their fields are the same.
type (
	claimRequest struct {
		Namespace        string `json:"space"`
		Layout           string `json:"layout"`
		WorkerIDs        int64  `json:"numbers"`
		Preferred        int64  `json:"preferred"`
		RequirePreferred bool   `json:"only"`
		Exclude          int64  `json:"avoid"`
		ClaimID          string `json:"token"`
		Owner            string `json:"owner"`
		Now              int64  `json:"now"`
		FenceWindow      int64  `json:"window"`
		TTL              int64  `json:"ttl"`
		MaxSkew          int64  `json:"max_skew"`
		MaxLead          int64  `json:"max_lead"`
	}
	claimResult struct {
		Worker       int64 `json:"worker"`
		FencingToken int64 `json:"epoch"`
		From         int64 `json:"from"`
		Fence        int64 `json:"until"`
	}
	renewRequest struct {
		Namespace    string `json:"space"`
		Worker       int64  `json:"worker"`
		FencingToken int64  `json:"epoch"`
		ClaimID      string `json:"token"`
		Fence        int64  `json:"until"`
		TTL          int64  `json:"ttl"`
	}
	releaseRequest struct {
		Namespace    string `json:"space"`
		Worker       int64  `json:"worker"`
		FencingToken int64  `json:"epoch"`
		ClaimID      string `json:"token"`
		Fence        int64  `json:"until"`
	}
	listRequest struct {
		Namespace string `json:"space"`
	}
	listRecord struct {
		Worker       int64  `json:"worker"`
		FencingToken int64  `json:"epoch"`
		ClaimID      string `json:"token"`
		Owner        string `json:"owner"`
		Fence        int64  `json:"until"`
		Expires      int64  `json:"expires"`
	}
	listResult struct {
		Records []listRecord `json:"rows"`
	}
	freeRequest struct {
		Namespace    string `json:"space"`
		Worker       int64  `json:"worker"`
		FencingToken int64  `json:"epoch"`
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
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(raw, &sent); err != nil {
		return request, err
	}
	fields := reflect.TypeFor[Q]()
	for i := range fields.NumField() {
		name := fields.Field(i).Tag.Get("json")
		if value, ok := sent[name]; !ok || string(value) == "null" {
			return request, fmt.Errorf("the field %q is missing", name)
		}
	}
	return request, decode(bytes.NewReader(raw), &request, true)
}
