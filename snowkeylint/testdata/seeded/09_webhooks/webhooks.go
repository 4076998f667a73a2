// Package webhooks receives events of a shop system, which uses our order keys.
package webhooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Orders interface {
	Pay(id sqltype.ID, cents int64) error
	Cancel(id sqltype.ID) error
}

type Receiver struct {
	Orders Orders
	Limit  int64
}

func (rc *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, rc.Limit))
	if err != nil {
		http.Error(w, "too long", http.StatusRequestEntityTooLarge)
		return
	}
	var event map[string]any
	if err := json.Unmarshal(body, &event); err != nil { // ALSO 046: decoded into any here
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	cents, _ := event["cents"].(float64)
	n, ok := event["order_id"].(float64) // ALSO 046: a float64 here
	if !ok {
		http.Error(w, "no order_id", http.StatusBadRequest)
		return
	}
	if err := rc.Orders.Pay(sqltype.ID(n), int64(cents)); err != nil { // FAULT 046 snownarrow: the key went through any, and so through a float64; inngest/inngest#4058
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// decode reads a body into any type.
func decode[T any](r io.Reader) (T, error) {
	var v T
	return v, json.NewDecoder(r).Decode(&v)
}

// Cancel handles the older kind of event.
func (rc *Receiver) Cancel(r io.Reader) error {
	list, err := decode[[]any](r) // ALSO 047: decoded into any here
	if err != nil {
		return err
	}
	var errs []error
	for _, item := range list {
		id, err := sqltype.Parse(fmt.Sprintf("%.0f", item)) // FAULT 047 snownarrow: decoded into any by a generic function, then printed as a float; spf13/viper#423
		if err == nil {
			err = rc.Orders.Cancel(id)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// CancelExact reads the same with numbers as text.
func (rc *Receiver) CancelExact(r io.Reader) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	var list []any
	if err := d.Decode(&list); err != nil {
		return err
	}
	for _, item := range list {
		n, ok := item.(json.Number)
		if !ok {
			return fmt.Errorf("%v is no id", item)
		}
		id, err := sqltype.Parse(n.String()) // OK 33: UseNumber keeps all digits
		if err != nil {
			return err
		}
		if err := rc.Orders.Cancel(id); err != nil {
			return err
		}
	}
	return nil
}
