// Package routes has the paths of a forum.
package routes

import (
	"net/http"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Post struct {
	ID   sqltype.ID `json:"id"`
	Text string     `json:"text"`
}

type Posts interface {
	Get(id sqltype.ID) (Post, bool)
	List(page int) []Post
}

func Register(mux *http.ServeMux, posts Posts, render func(http.ResponseWriter, any)) {
	mux.HandleFunc("GET /posts/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := pathID(r, "id")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if p, ok := posts.Get(id); ok {
			render(w, p)
			return
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc("GET /posts", func(w http.ResponseWriter, r *http.Request) {
		page, err := strconv.Atoi(r.FormValue("page")) // OK 42: a page, not a key
		if err != nil {
			page = 1
		}
		render(w, posts.List(page))
	})
}

// pathID reads a key from a path.
func pathID(r *http.Request, name string) (sqltype.ID, error) {
	n, err := strconv.Atoi(r.PathValue(name)) // FAULT 053 snownarrow: Atoi reads an int, which has 32 bits on arm and 386; sideshow/apns2#36
	return sqltype.ID(n), err                 // ALSO 053: converted here
}
