package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/token"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// KeyForm writes an order's key as ord_1qda147xjq4ad. Before, keys were written in decimal: links
// that people have stored are still read.
func (*Order) KeyForm() sqltype.Form {
	return sqltype.Form{Prefix: "ord", Old: decimal}
}

var decimal = []sqltype.Form{{}} // here, so that KeyForm allocates nothing

// KeyForm writes a line's key as line_1qda147xjq4ae.
func (*Line) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "line"} }

// customerForm is how customers' keys are written. A method of a type has no configuration, so the
// form is a variable of the program. main sets it before it starts anything, and nothing sets it
// later, so reading it needs no lock. A program that always has secrets should declare a
// *token.Sealer instead: while it is nil, writing a key is an error.
var customerForm = sqltype.Form{Prefix: "cus"}

// KeyForm writes a customer's key as cus_1qda147xjq4af, or with -keys as cus_ and a token.
func (*Customer) KeyForm() sqltype.Form { return customerForm }

// sealedForm is the form of customers' keys as tokens. The file has the secrets, one a line, the
// newest first. Keys in base 32 are refused then, because anyone can make them up; Old would keep
// links from before readable.
func sealedForm(file string) (sqltype.Form, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return sqltype.Form{}, fmt.Errorf("-keys: %w", err)
	}
	var secrets []token.Secret
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		secret, err := token.ParseSecret(line)
		if err != nil {
			return sqltype.Form{}, fmt.Errorf("-keys %s:%d: %w", file, i+1, err)
		}
		secrets = append(secrets, secret)
	}
	ring, err := token.New(token.Config{Keys: secrets})
	if err != nil {
		return sqltype.Form{}, fmt.Errorf("-keys %s: %w", file, err)
	}
	customers, err := ring.Sealer("customer")
	if err != nil {
		return sqltype.Form{}, fmt.Errorf("-keys %s: %w", file, err)
	}
	return sqltype.Form{Prefix: "cus", Sealer: customers}, nil
}
