// Package sharding tests the module contrib/sharding with 64 tables for each model, on PostgreSQL and
// MariaDB.
package sharding
