package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

func etcdVersion(ctx context.Context, e *examination) (string, error) {
	var last error
	for _, endpoint := range e.Target.Endpoints() {
		status, err := e.Target.Etcd.Status(ctx, endpoint)
		if err == nil {
			return status.Version, nil
		}
		last = err
	}
	return "", last
}

// etcd looks at the members; whether they flush what they acknowledge, none says.
func (e *examination) etcd(ctx context.Context) {
	members, err := e.Target.Etcd.MemberList(ctx)
	if err != nil {
		e.skip("members", "cannot be seen: %v", err)
	} else {
		voting := 0
		for _, m := range members.Members {
			if !m.IsLearner {
				voting++
			}
		}
		if detail := fmt.Sprintf("%d voting", voting); voting < 3 {
			e.tell(Warn, "members", detail, "take three or more: the loss of a disk loses the bounds of the leases")
		} else {
			e.ok("members", "%s", detail)
		}
	}
	var alarms []string
	if list, err := e.Target.Etcd.AlarmList(ctx); err == nil {
		for _, a := range list.Alarms {
			if a.Alarm != etcdserverpb.AlarmType_NONE && !slices.Contains(alarms, a.Alarm.String()) {
				alarms = append(alarms, a.Alarm.String())
			}
		}
		if len(alarms) > 0 {
			e.tell(Fail, "alarms", strings.Join(alarms, ", "), "see etcdctl alarm list: with NOSPACE no lease is renewed, CORRUPT members must be replaced")
		} else {
			e.ok("alarms", "none")
		}
	}
	for _, endpoint := range e.Target.Endpoints() {
		status, err := e.Target.Etcd.Status(ctx, endpoint)
		switch {
		case err != nil:
			e.tell(Warn, "member", endpoint+": "+err.Error(), "see whether it runs")
		case status.Leader == 0:
			e.tell(Fail, "member", endpoint+" knows no leader", "without a majority of the members nothing is written")
		default:
			e.ok("member", "%s, %d MiB", endpoint, status.DbSize>>20)
		}
	}
	e.skip("fsync", "an etcd does not say whether it flushes; see that no member has --unsafe-no-fsync")
}
