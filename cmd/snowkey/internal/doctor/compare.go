package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Overlap is a worker ID that was leased on both of two nodes.
type Overlap struct {
	WorkerID int64  `json:"worker_id"` // of the layout: datacenter<<WorkerBits | worker
	Before   string `json:"before"`    // IDs may be equal up to this time, the earlier fence
}

// apart is what to do if nodes lease the same worker IDs.
const apart = "give each node a Config.Datacenter of its own, in a new namespace"

// compare compares the namespaces of the two nodes.
func (e *checkup) compare(ctx context.Context) {
	const name = "namespaces"
	e.ok("other node", "%s", e.With.Name)
	if e.With.Kind == dsn.Postgres {
		e.replication(ctx, e.With, "logical replication of the other node")
	}
	here, hereErr := e.Target.Layouts(ctx)
	there, err := e.With.Layouts(ctx)
	if err = e.ofNode(hereErr, err); err != nil {
		e.report(Fail, name, err.Error(), "let this user read the table snow_worker_space")
		return
	}
	var both, only []string
	all := maps.Clone(here)
	maps.Copy(all, there)
	for _, namespace := range slices.Sorted(maps.Keys(all)) {
		_, mine := here[namespace]
		_, theirs := there[namespace]
		switch {
		case e.OnlyNamespace && namespace != e.Namespace:
		case mine && theirs:
			both = append(both, namespace)
		case mine:
			only = append(only, fmt.Sprintf("%q only on %s", namespace, e.Target.Name))
		default:
			only = append(only, fmt.Sprintf("%q only on %s", namespace, e.With.Name))
		}
	}
	detail := fmt.Sprintf("%d on both", len(both))
	if len(only) > 0 {
		detail += "; " + list(only)
	}
	e.ok(name, "%s", detail)
	for _, namespace := range both {
		e.compareNamespace(ctx, namespace, parseSpace(here[namespace]), parseSpace(there[namespace]))
	}
}

// ofNode returns the first of the errors of the two nodes, with the node's name.
func (e *checkup) ofNode(here, there error) error {
	switch {
	case here != nil:
		return fmt.Errorf("%s: %w", e.Target.Name, here)
	case there != nil:
		return fmt.Errorf("%s: %w", e.With.Name, there)
	}
	return nil
}

// compareNamespace compares a namespace that both nodes have.
func (e *checkup) compareNamespace(ctx context.Context, namespace string, here, there space) {
	name := fmt.Sprintf("namespace %q", namespace)
	switch {
	case here.layout != there.layout:
		e.report(Fail, name, fmt.Sprintf("the layouts differ, so any ID of one node may be one of the other: %s on %s, %s on %s", here.layout, e.Target.Name, there.layout, e.With.Name),
			"use one layout on both nodes: move one of them to a new namespace")
		return
	case here.datacenter >= 0 && there.datacenter >= 0 && here.datacenter != there.datacenter:
		e.ok(name, "datacenter %d on %s, %d on %s: no ID is equal", here.datacenter, e.Target.Name, there.datacenter, e.With.Name)
		return
	}
	detail := fmt.Sprintf("both nodes lease %v", here)
	if here.datacenter != there.datacenter {
		detail = fmt.Sprintf("%s leases %v, %s %v", e.Target.Name, here, e.With.Name, there)
	}
	mine, hereErr := records(ctx, e.Target, namespace)
	theirs, err := records(ctx, e.With, namespace)
	if err = e.ofNode(hereErr, err); err != nil {
		e.report(Fail, name, err.Error(), "let this user read the table snow_worker")
		return
	}
	if same := shared(mine, theirs); len(same) > 0 {
		e.report(Fail, name, fmt.Sprintf("both nodes have the same lease of worker ID %s: they are one database, or the tables of the leases were copied or are replicated", list(same)),
			"leave snow_worker and snow_worker_space out of the replication; on a copy, empty them before its first lease, and give it another Config.Datacenter")
		return
	}
	overlaps := overlap(here, mine, there, theirs)
	switch {
	case len(overlaps) > 0:
		var texts []string
		for _, o := range overlaps {
			texts = append(texts, fmt.Sprintf("worker ID %d before %s", o.WorkerID, o.Before))
		}
		e.emit(Check{
			Name: name, Status: Fail, Overlaps: overlaps, Advice: apart,
			Detail: fmt.Sprintf("%s; IDs may be equal: %s", detail, list(texts)),
		})
	case here.datacenter >= 0 && here.datacenter == there.datacenter:
		e.report(Fail, name, detail+"; none was leased on both yet", apart)
	default:
		e.report(Warn, name, detail+"; none was leased on both yet", apart+", unless each worker ID is assigned to one node")
	}
}

func records(ctx context.Context, t *dsn.Target, namespace string) ([]driver.Record, error) {
	store, err := t.Store(true)
	if err != nil {
		return nil, err
	}
	return store.List(ctx, namespace)
}

// shared returns the worker IDs whose lease is one and the same in both: claim IDs are random.
func shared(mine, theirs []driver.Record) (workers []string) {
	claims := map[string]bool{}
	for _, rec := range mine {
		claims[rec.ClaimID] = rec.ClaimID != ""
	}
	for _, rec := range theirs {
		if claims[rec.ClaimID] {
			workers = append(workers, fmt.Sprint(rec.Worker))
		}
	}
	return workers
}

// overlap returns the worker IDs that were leased on both. A record does not say when the first
// lease began, so all times before both fences count.
func overlap(here space, mine []driver.Record, there space, theirs []driver.Record) (overlaps []Overlap) {
	fences := map[int64]int64{}
	for _, rec := range mine {
		fences[here.whole(rec)] = rec.Fence
	}
	for _, rec := range theirs {
		id := there.whole(rec)
		if fence, ok := fences[id]; ok {
			overlaps = append(overlaps, Overlap{id, timetext.Format(time.UnixMilli(min(fence, rec.Fence)))})
		}
	}
	slices.SortFunc(overlaps, func(a, b Overlap) int { return int(a.WorkerID - b.WorkerID) })
	return overlaps
}
