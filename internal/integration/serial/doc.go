// Package serial counts on real servers: the numbers of package serial from the SQL
// and Redis stores, by many processes, in transactions, and while servers die.
package serial
