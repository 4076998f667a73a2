package engines

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Forgotten counts the writes of before that after lacks: claims, and of the others the last renewals.
func Forgotten(before, after driver.State) (n int) {
	has := map[int64]driver.Record{}
	for _, rec := range after.Records {
		has[rec.Worker] = rec
	}
	for _, rec := range before.Records {
		if now := has[rec.Worker]; now.FencingToken < rec.FencingToken || now.Fence < rec.Fence {
			n++
		}
	}
	return n
}

// WriteNamespace returns the statements that replace what a database has of a namespace, without any condition:
// the first removes it.
func WriteNamespace(ns driver.Namespace) []string {
	return []string{
		"DELETE FROM snow_namespace WHERE namespace = '" + ns.Name + "'",
		fmt.Sprintf("INSERT INTO snow_namespace (namespace, layout, fence_window, max_skew, incarnation, since, floor, seen, version) "+
			"VALUES ('%s', '%s', %d, %d, '%s', %d, %d, %d, %d)",
			ns.Name, ns.Layout, ns.FenceWindow, ns.MaxSkew, ns.Incarnation, ns.Since, ns.Floor, ns.Seen, ns.Version),
	}
}
