package testserver

import (
	"path/filepath"
	"testing"
)

// NewStandby starts a PostgreSQL server for this test alone that is a copy of a private
// one and follows it: a hot standby of the name "standby". It is asynchronous unless the
// primary's synchronous_standby_names has that name; pg_promote() makes it a primary. It gets
// the arguments of the primary.
func NewStandby(t testing.TB, primary *Server) *Server {
	t.Helper()
	e := postgresEngine()
	e.packages = "postgresql"
	e.lookup = func() ([]string, error) {
		real, err := filepath.EvalSymlinks(primary.programs[0]) // whose version it must be
		if err != nil {
			return nil, err
		}
		dir := filepath.Dir(real)
		if firstExecutable([]string{dir}, []string{"pg_basebackup"}) == "" {
			return nil, &missingError{e, "program pg_basebackup not found in " + dir}
		}
		return []string{primary.programs[0], filepath.Join(dir, "pg_basebackup")}, nil
	}
	e.setup = func(s *Server) error {
		return s.run(s.programs[1], "--pgdata="+filepath.Join(s.dir, "data"), "--dbname="+primary.DSN+"&application_name=standby",
			"--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
	}
	return own(t, e, primary.arguments...)
}
