// Package serial tests the numbers of package serial on real servers: from the SQL and Redis stores, and in
// transactions. Processes and servers that die are in torture, and lost answers in package serial itself.
package serial
