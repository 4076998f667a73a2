package testserver

import (
	"os"
	"syscall"
)

// engine describes how one kind of server is found, started and queried.
type engine struct {
	kind       Kind
	dsnVar     string // holds the DSN of a running server
	binVar     string // holds the folder of the programs
	versionVar string // holds the version that a private server must have; may be empty
	packages   string // the Debian packages, for the message about a missing program
	additional bool   // the server that dsnVar names does not replace the private one

	programs [][]string // what is needed; each may have several names, best first
	together bool       // the programs must be of one folder, that is of one version
	refuse   func(paths []string) error
	lookup   func() ([]string, error) // instead of find

	sequential    bool           // a member of a cluster starts when the one before is ready
	rewritesTitle bool           // its command line becomes its name and address only, so the name must hold the tag
	unprivileged  bool           // the server refuses to run as root
	orderly       syscall.Signal // ends the server as an administrator would, clients or not
	quick         syscall.Signal // ends it at once; it still frees what lives outside its folder

	dsn       func(addr string) string
	address   func(dsn string) (string, error)  // host:port of a given DSN
	setup     func(s *Server) error             // makes the data folder; may be nil
	configure func(s *Server) error             // writes what a member's start needs, when all have addresses; may be nil
	command   func(s *Server) []string          // program and arguments
	ready     func(s *Server) error             // nil if this very process serves
	version   func(addr string) (string, error) // what the server says its version is; nil if versionVar is empty
	reap      func(s *Server) error             // ends what outlives the process; may be nil
}

func engines() map[Kind]*engine {
	all := map[Kind]*engine{
		KindPostgres: postgresEngine(),
		KindMariaDB:  mariadbEngine(),
		KindRedis:    redisEngine(),
		KindEtcd:     etcdEngine(),
	}
	if os.Getenv(mysqlBinVar) != "" {
		all[KindMariaDB] = mysqlAloneEngine()
	}
	return all
}
