// Package serial tests the numbers of package serial on real servers: from the SQL and Redis
// stores, by many processes, in transactions, and while servers die.
package serial
