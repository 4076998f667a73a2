package etcd

import (
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// An incarnation is the cluster that has answered, and its raft term, which only rises until the
// cluster is made anew from a snapshot.
type incarnation struct {
	cluster, term uint64
}

func incarnationOf(header *etcdserverpb.ResponseHeader) incarnation {
	return incarnation{header.GetClusterId(), header.GetRaftTerm()}
}

func (i incarnation) String() string { return fmt.Sprintf("%x/%d", i.cluster, i.term) }

// continues reports whether i is the cluster of the text, at the same term or a later one.
func (i incarnation) continues(text string) bool {
	var was incarnation
	n, err := fmt.Sscanf(text, "%x/%d", &was.cluster, &was.term)
	return err == nil && n == 2 && was.cluster == i.cluster && was.term <= i.term
}
