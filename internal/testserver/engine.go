package testserver

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// engine describes how one kind of server is found, started and queried.
type engine struct {
	kind       Kind
	dsnVar     string // holds the DSN of a running server
	binVar     string // holds the folder of the programs
	versionVar string // holds the version that a private server must have; may be empty
	packages   string // the Debian packages, for the message about a missing program

	programs [][]string                              // what is needed; each may have several names, best first
	more     func() (paths []string, missing string) // what is not in the folder of the programs; may be nil
	found    []string                                // the paths, if they are known

	parallel      bool           // members of a cluster start together, else one after the other
	rewritesTitle bool           // its command line becomes its name and address only, so the name must hold the tag
	unprivileged  bool           // the server refuses to run as root
	orderly       syscall.Signal // ends the server as an administrator would, clients or not; 0: SIGTERM
	quick         syscall.Signal // ends it at once; it still frees what lives outside its folder; 0: SIGKILL

	dsn       func(addr string) string
	port      string                   // of a given DSN without one
	schemes   []string                 // of a given DSN
	setup     func(s *Server) error    // makes the data folder; may be nil
	configure func(s *Server) error    // writes what the start needs, when all addresses are known; may be nil
	command   func(s *Server) []string // program and arguments
	ready     func(s *Server) error    // nil if this very process serves
}

func engines() map[Kind]*engine {
	all := map[Kind]*engine{
		KindPostgres: postgresEngine(), KindMariaDB: mariadbEngine(), KindRedis: redisEngine(), KindEtcd: etcdEngine(),
	}
	if os.Getenv(mysqlBinVar) != "" {
		all[KindMariaDB] = mysqlAloneEngine()
	}
	return all
}

// errMissing is about a server whose programs are not on this machine.
var errMissing = errors.New("not installed")

// errReplaced is errMissing where the environment gives a running server: tests that cannot use it
// are left out, also with SNOWKEY_TEST_REQUIRE=1.
var errReplaced = fmt.Errorf("%w, and the environment gives another", errMissing)

// find returns the paths of the engine's programs, and the version if one is required.
func (e *engine) find() (paths []string, version string, err error) {
	if e.found != nil {
		return e.found, "", nil
	}
	dirs, given := searchPath(), os.Getenv(e.binVar)
	if given != "" {
		// Installations from an archive keep the scripts next to bin.
		dirs = []string{given, filepath.Join(given, "../bin"), filepath.Join(given, "../sbin"), filepath.Join(given, "../scripts")}
	}
	paths, reason := pick(dirs, e.programs)
	if reason == "" && e.more != nil {
		var more []string
		more, reason = e.more()
		paths = append(paths, more...)
	}
	if !supported {
		reason = "servers are started on Unix-like systems only"
	}
	switch want := os.Getenv(e.versionVar); {
	case reason != "" && given != "": // the folder was asked for: a skip would hide a typing error
		return nil, "", fmt.Errorf("%s=%q: %s", e.binVar, given, reason)
	case reason != "":
		text := fmt.Sprintf("no private %s: %s; install the Debian packages %s, or set %s to the folder of its programs", e.kind, reason, e.packages, e.binVar)
		missing := errMissing
		if e.dsnVar != "" {
			if os.Getenv(e.dsnVar) != "" {
				missing = errReplaced
			}
			text += fmt.Sprintf(", or set %s to the DSN of a running server (not for tests that kill it)", e.dsnVar)
		}
		return nil, "", fmt.Errorf("%s: %w", text, missing)
	case want != "":
		if version, err = versionOf(paths[0]); err == nil && version != want {
			err = fmt.Errorf("%s is of version %q, and %s=%q", paths[0], version, e.versionVar, want)
		}
	}
	return paths, version, err
}

var versionPattern = regexp.MustCompile(`(?: Ver |\(PostgreSQL\) )(\S+)`)

// versionOf asks a program for its version.
func versionOf(program string) (string, error) {
	out, err := exec.Command(program, "--version").CombinedOutput()
	m := versionPattern.FindSubmatch(out)
	if err != nil || m == nil {
		return "", fmt.Errorf("%s --version: %w: %s", program, cmp.Or(err, errors.New("no version")), tail(out))
	}
	return string(m[1]), nil
}

// pick returns the path of each program, or the reason why there is none. They are from one folder,
// so of one version, if a folder has them all.
func pick(dirs []string, programs [][]string) (paths []string, reason string) {
	for i := range len(dirs) + 1 {
		from := dirs
		if paths, reason = nil, ""; i < len(dirs) {
			from = dirs[i : i+1]
		}
		for _, names := range programs {
			path := firstExecutable(from, names)
			if paths = append(paths, path); path == "" {
				reason = "program " + strings.Join(names, " or ") + " not found"
			}
		}
		if reason == "" {
			return paths, ""
		}
	}
	return nil, reason
}

func firstExecutable(dirs, names []string) string {
	for _, n := range names {
		for _, d := range dirs {
			if p, err := exec.LookPath(filepath.Join(d, n)); err == nil {
				return p
			}
		}
	}
	return ""
}

// searchPath lists the folders of PATH, then those that distributions use. The sbin folders are
// not in the PATH of an ordinary user, PostgreSQL's in no user's.
func searchPath() []string {
	dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(d string) bool { return !filepath.IsAbs(d) })
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin"} {
		found, _ := filepath.Glob(pattern) // the only error is a bad pattern
		dirs = append(dirs, newestFirst(found)...)
	}
	return append(dirs, "/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin")
}

var digits = regexp.MustCompile(`\d+`)

// newestFirst sorts paths by the numbers in them, so that 16 comes before 9.6.
func newestFirst(paths []string) []string {
	key := func(p string) string {
		return digits.ReplaceAllStringFunc(p, func(d string) string { return fmt.Sprintf("%08s", d) })
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(key(b), key(a)) })
	return paths
}

var mysqlTCP = regexp.MustCompile(`(?:^|@)tcp\(([^()]+)\)/[^/]*$`)

// address returns the host:port of a given DSN. The error does not quote it, because it may
// contain a password.
func (e *engine) address(dsn string) (string, error) {
	host := ""
	first, _, _ := strings.Cut(dsn, ",") // of several etcds
	if m := mysqlTCP.FindStringSubmatch(dsn); m != nil && e.kind == KindMariaDB {
		host = m[1]
	} else if u, err := url.Parse(first); err == nil && slices.Contains(e.schemes, u.Scheme) {
		host = u.Host
	} else if _, _, err := net.SplitHostPort(dsn); err == nil && e.kind == KindRedis && !strings.Contains(dsn, "/") {
		host = dsn
	}
	if _, _, err := net.SplitHostPort(host); err != nil && host != "" {
		host = net.JoinHostPort(strings.Trim(host, "[]"), e.port)
	}
	if host == "" || host[0] == ':' {
		return "", fmt.Errorf("must be like %s", e.dsn("host:"+e.port))
	}
	return host, nil
}

// Promtool returns the path of promtool.
func Promtool(t testing.TB) string {
	t.Helper()
	skipShort(t)
	paths, _, err := (&engine{kind: "promtool", binVar: "SNOWKEY_TEST_PROMETHEUS_BIN", packages: "prometheus", programs: [][]string{{"promtool"}}}).find()
	if err != nil {
		skipOrFail(t, fmt.Errorf("promtool: %w", err))
		return ""
	}
	return paths[0]
}
