package main

import (
	"context"
	"errors"
	"net/http"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// customerDraft is a customer as a client sends it.
type customerDraft struct {
	Name string `json:"name"`
}

func (s *service) createCustomer(w http.ResponseWriter, r *http.Request) error {
	var d customerDraft
	if err := readJSON(w, r, &d); err != nil {
		return err
	}
	if wrong := checkText(d.Name, 1, maxName); wrong != "" {
		return invalid(fault{"name", d.Name, wrong})
	}
	c := Customer{Name: d.Name}
	if err := s.orders.db.WithContext(r.Context()).Create(&c).Error; err != nil {
		return err
	}
	w.Header().Set("Location", "/customers/"+c.ID.String())
	return writeCustomer(w, r, http.StatusCreated, &c)
}

func (s *service) getCustomer(w http.ResponseWriter, r *http.Request) error {
	id, err := pathKey[Customer](r)
	if err != nil {
		return err
	}
	c, err := s.orders.customer(r.Context(), id)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return newProblem(http.StatusNotFound, "there is no such customer")
	}
	if err != nil {
		return err
	}
	return writeCustomer(w, r, http.StatusOK, c)
}

func writeCustomer(w http.ResponseWriter, r *http.Request, status int, c *Customer) error {
	body, err := encode(c)
	if err != nil {
		return err
	}
	return write(w, r, status, `"`+digest(body)[:32]+`"`, body)
}

// customer reads one customer; gorm.ErrRecordNotFound if there is none.
func (s *store) customer(ctx context.Context, id sqltype.Key[Customer]) (*Customer, error) {
	var c Customer
	if err := s.db.WithContext(ctx).Take(&c, "id = ?", id).Error; err != nil {
		return nil, err
	}
	return &c, nil
}
