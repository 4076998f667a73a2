package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

func etcdVersion(ctx context.Context, e *checkup) (string, error) {
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

// etcd checks the members. They do not say whether they flush acknowledged writes.
func (e *checkup) etcd(ctx context.Context) {
	members, err := e.Target.Etcd.MemberList(ctx)
	if err != nil {
		e.skip("members", "not visible: %v", err)
	} else {
		voting := 0
		for _, m := range members.Members {
			if !m.IsLearner {
				voting++
			}
		}
		if detail := fmt.Sprintf("%d voting", voting); voting < 3 {
			e.report(Warn, "members", detail, "run three or more: the loss of a disk loses the fences of the leases")
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
			e.report(Fail, "alarms", strings.Join(alarms, ", "), "see etcdctl alarm list: with NOSPACE no lease is renewed; replace CORRUPT members")
		} else {
			e.ok("alarms", "none")
		}
	}
	for _, endpoint := range e.Target.Endpoints() {
		status, err := e.Target.Etcd.Status(ctx, endpoint)
		switch {
		case err != nil:
			e.report(Warn, "member", endpoint+": "+err.Error(), "check that it runs")
		case status.Leader == 0:
			e.report(Fail, "member", endpoint+" has no leader", "without a majority of the members nothing is written")
		default:
			e.ok("member", "%s, %s", endpoint, humanize.IBytes(uint64(max(status.DbSize, 0))))
		}
	}
	e.skip("fsync", "etcd does not report it; check that no member has --unsafe-no-fsync")
}
