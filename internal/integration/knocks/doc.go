// Package knocks lets many writers write graphs of rows, by the GORM plug-in and by
// COPY, while their server is killed, paused and restarted, their clocks step, and
// the leases of their generators lie in that same server. Afterwards it counts: no
// id issued twice, no row without its master, no half graph, every acknowledged
// row there, no row of a graph that was refused.
//
// The normal run takes some seconds for each server. For longer ones:
//
//	SNOWKEY_KNOCKS=5m go test -v -count=1 -timeout 1h ./internal/integration/knocks
//
// SNOWKEY_KNOCKS_SEED repeats the order of the knocks, not what they hit.
package knocks
