package testserver

import "testing"

// NewTiDB starts, for this test alone, one server of TiDB, with the storage that TiDB has for its tests.
func NewTiDB(t testing.TB) *Server {
	t.Helper()
	return startFor(t, &engine{
		kind:     "tidb",
		binVar:   "SNOWKEY_TEST_TIDB_BIN",
		packages: "of TiDB, of which there are none: tools/tidb.sh builds it",
		programs: [][]string{{"tidb-server"}},
		dsn:      func(addr string) string { return "root@tcp(" + addr + ")/test" },
		command: func(s *Server) []string {
			return []string{s.programs[0], "-host=127.0.0.1", "-P=" + portOf(s.Addr), "-report-status=false", "-socket=",
				"-store=unistore", "-path=" + s.data(), "-temp-dir=" + s.in("temp"), "-L=error"}
		},
		ready: func(s *Server) error { return ask(s.Addr, "", "_password\x00") },
	})
}
