// Package open tests the calls that lease a worker ID and make its generator at once, over
// gorm, database/sql and pgxpool, on every database.
package open
