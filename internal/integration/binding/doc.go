// Package binding runs sqltype through the ways in which web frameworks bind a
// path, a query, a form and a JSON body to a struct. For each: good input
// arrives, and bad input is answered with 400 and a reason that quotes it.
package binding
