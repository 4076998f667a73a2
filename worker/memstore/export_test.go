package memstore

import (
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Put is storetest.Config.Put.
func (s *Store) Put(_ *testing.T, st driver.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := &namespace{records: make(map[int64]driver.Record)}
	if !st.Missing {
		ns.Namespace = st.Namespace
	}
	for _, rec := range st.Records {
		ns.records[rec.Worker] = rec
	}
	s.namespaces[st.Namespace.Name] = ns
}
