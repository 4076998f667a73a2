package checkout

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

type order struct {
	ID    sqltype.ID `json:"id"`
	Items []item     `json:"items"`
}

type item struct {
	ID  sqltype.ID `json:"id"`
	SKU string     `json:"sku"`
}

type handler struct {
	db     *sql.DB
	itemID func(context.Context) (sqltype.ID, error)
}

func newHandler(db *sql.DB, workerID int64) *handler {
	return &handler{db: db, itemID: idFunc(workerID)}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	gen, err := sqlstore.Open(ctx, h.db, worker.Config{}) // FAULT 057 snowscope: a lease for each request: two round trips, and 1,024 requests at a time; zhoushuguang/lebron#51
	if err != nil {
		http.Error(w, "no ids", http.StatusServiceUnavailable)
		return
	}
	defer gen.Close(context.WithoutCancel(ctx))
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := h.fill(ctx, gen, &o); err != nil {
		http.Error(w, "no ids", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(o)
}

func (h *handler) fill(ctx context.Context, gen sqltype.Source, o *order) error {
	var err error
	if o.ID, err = sqltype.NextID(ctx, gen); err != nil {
		return err
	}
	for i := range o.Items {
		if o.Items[i].ID, err = h.itemID(ctx); err != nil {
			return err
		}
	}
	return nil
}
