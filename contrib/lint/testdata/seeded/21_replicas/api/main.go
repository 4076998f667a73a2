// Command api accepts messages.
package main

import (
	"fmt"
	"log"
	"net/http"

	"example.org/seeded/21_replicas/node"
)

func main() {
	if err := run(":8080"); err != nil {
		log.Print(err)
	}
}

func run(addr string) error {
	gen, err := node.New() // ALSO 069: with the constant of the package
	if err != nil {
		return err
	}
	defer gen.Close()
	return http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := gen.Next(r.Context())
		if err != nil {
			http.Error(w, "no id", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, id)
	}))
}
