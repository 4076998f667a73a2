// Package migrate tests package migrate on real databases: with writers that never stop, killed and
// resumed, back again, and on tables that it must refuse.
//
// With a million rows, in ten minutes:
//
//	SNOWKEY_MIGRATE_ROWS=1000000 go test -count=1 -timeout 1h -v -run '^TestBigint$' ./internal/integration/migrate
package migrate
