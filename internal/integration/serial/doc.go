// Package serial tests the numbers of package serial on real servers: from the SQL and Redis stores, and in
// transactions, and while servers die. Processes that die are in torture, and lost answers in package serial.
package serial
