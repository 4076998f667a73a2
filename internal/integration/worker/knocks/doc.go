// Package knocks lets many writers write graphs of rows, by the GORM plug-in and by
// COPY, while their server is killed, paused and restarted, their clocks step, and
// the leases of their generators are in that same server. Afterwards no id was issued
// twice, every row has its parent, every graph is complete, every acknowledged row
// exists, and no row of a rejected graph does.
//
// The normal run takes some seconds for each server. For longer ones:
//
//	SNOWKEY_KNOCKS=5m go test -v -count=1 -timeout 1h ./internal/integration/worker/knocks
//
// SNOWKEY_KNOCKS_SEED repeats the order of the knocks, not what they hit.
package knocks
