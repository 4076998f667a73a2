// Package sqlgen tests the generators that ddl.Generator creates within a database, on real
// servers: what they promise through crashes, clocks that step, rollbacks, copies and promotions.
package sqlgen
