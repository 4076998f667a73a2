// Package backfill tests package backfill on real databases: next to live generators, killed and
// resumed, with all kinds of keys, times and references.
package backfill
