// Package forget makes real servers forget what they have acknowledged, by failovers, restores,
// crashes and deleted tables, while generators issue ids that have their worker IDs from them, and
// others claim worker IDs after it: no id is issued twice.
//
// Each event has two groups of holders, in separate namespaces. One has the protocol. Of the other,
// the control, the test lets the store believe that nothing was forgotten, before any holder asks
// again. If the control issues no id twice, the event proves nothing, and the test fails.
//
// A long chain of promotions, from the root:
//
//	SNOWKEY_FORGET_PROMOTIONS=100 tools/alone.sh ./internal/integration/forget go test -v -timeout 2h -run Promotions .
package forget
