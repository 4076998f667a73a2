package orderapi

import (
	"context"
	"encoding/json"
	"net/http"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type server struct {
	db  *gorm.DB
	gen sqltype.Source
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", s.get)
	mux.HandleFunc("POST /drafts", s.draft)
	mux.HandleFunc("GET /orders/{id}/siblings", s.siblings)
	mux.HandleFunc("GET /stats", s.stats)
	return mux
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *server) get(w http.ResponseWriter, r *http.Request) {
	id, err := sqltype.Parse(r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o, err := s.find(r.Context(), id)
	if err != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	reply(w, viewOf(o))
}

func (s *server) find(ctx context.Context, id sqltype.ID) (*order, error) {
	var o order
	return &o, s.db.WithContext(ctx).Take(&o, "id = ?", id).Error
}

// draft reserves the id of an order that the browser fills in later.
func (s *server) draft(w http.ResponseWriter, r *http.Request) {
	id, err := s.gen.Next(r.Context())
	if err != nil {
		http.Error(w, "no id", http.StatusServiceUnavailable)
		return
	}
	reply(w, map[string]any{"id": id, "state": "draft"}) // FAULT 018 snowjson: an int64 of Next as a value of a JSON map; suyuan32/simple-admin-tools#65
}

func (s *server) siblings(w http.ResponseWriter, r *http.Request) {
	id, err := sqltype.Parse(r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var orders []order
	if err := s.db.WithContext(r.Context()).Find(&orders, "parent_id = ?", id).Error; err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
		return
	}
	var page struct {
		Orders []orderView `json:"orders"`
		Next   int64       `json:"next_after"` // FAULT 019 snowjson: the cursor of an anonymous struct is a key
	}
	for i := range orders {
		page.Orders = append(page.Orders, viewOf(&orders[i]))
		page.Next = orders[i].ID.Int64()
	}
	reply(w, page)
}

func (s *server) stats(w http.ResponseWriter, r *http.Request) {
	var n int64
	if err := s.db.WithContext(r.Context()).Model(&order{}).Count(&n).Error; err != nil {
		http.Error(w, "database", http.StatusInternalServerError)
		return
	}
	reply(w, map[string]any{"orders": n}) // OK 15: a count
}
