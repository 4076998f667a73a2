package etcdstore

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// An incarnation is the cluster that has answered, in its present life. A cluster that is made anew
// from a snapshot may have the same ID. But its raft term begins anew, and so does its raft log,
// whose index is never below the revision of the keys before that: each revision is an entry of the
// log.
type incarnation struct {
	cluster, term uint64
	lead          int64 // of the log's index over the revision; it only rises
}

const (
	leadSlack = 100 // by how much the lead may seem to fall: it is not read in one step
	leadStep  = 50  // by how much it rises before that is noted
)

// incarnationOf returns the incarnation without its lead.
func incarnationOf(header *etcdserverpb.ResponseHeader) incarnation {
	return incarnation{cluster: header.GetClusterId(), term: header.GetRaftTerm()}
}

func (i incarnation) String() string { return fmt.Sprintf("%x/%d/%d", i.cluster, i.term, i.lead) }

func parseIncarnation(text string) (i incarnation, ok bool) {
	n, err := fmt.Sscanf(text, "%x/%d/%d", &i.cluster, &i.term, &i.lead)
	return i, err == nil && n == 3
}

// follows reports whether i is the cluster of before, at the same term or a later one.
func (i incarnation) follows(before incarnation) bool {
	return i.cluster == before.cluster && i.term >= before.term
}

// continues reports whether i is the incarnation of the text, perhaps later, and whether so much
// later that it must be noted.
func (i incarnation) continues(text string) (continues, later bool) {
	was, ok := parseIncarnation(text)
	if !ok || !i.follows(was) || i.lead < was.lead-leadSlack || i.lead < 0 && was.lead >= 0 {
		return false, false
	}
	return true, i.term > was.term || i.lead > was.lead+leadStep
}

// lives returns the incarnation of the cluster whose answer has the header.
func (s *Store) lives(ctx context.Context, what string, header *etcdserverpb.ResponseHeader) (incarnation, error) {
	for range 100 {
		status, err := ask(ctx, s, what, func(ctx context.Context) (*etcdserverpb.StatusResponse, error) {
			status, err := etcdserverpb.NewMaintenanceClient(s.client.ActiveConnection()).Status(ctx, &etcdserverpb.StatusRequest{})
			return status, rpctypes.Error(err)
		})
		if err != nil {
			return incarnation{}, err
		}
		i := incarnationOf(status.Header)
		if revision := status.Header.GetRevision(); i.follows(incarnationOf(header)) && revision >= header.GetRevision() {
			i.lead = int64(status.RaftAppliedIndex) - revision //nolint:gosec // it counts entries
			return i, nil
		}
		select { // this member is behind: the client asks the members in turn
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	return incarnation{}, fmt.Errorf("etcdstore: %s: the members of the cluster are behind the one that has answered", what)
}
