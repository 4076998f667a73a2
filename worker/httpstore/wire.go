package httpstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// The requests and results that are no types of package driver.
type (
	listRequest struct {
		Namespace string `json:"namespace"`
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
