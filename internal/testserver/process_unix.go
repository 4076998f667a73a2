//go:build unix

package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// supported reports whether this system can start servers.
const supported = true

// process is one entry of the process table.
type process struct {
	pid, parent   int
	born          string // unique together with pid; empty if unknown
	stopped, dead bool   // dead: ended, and not waited for yet
}

// errEnded is returned when a server has ended by itself meanwhile.
var errEnded = errors.New("the process has ended")

// freeze stops a child of ours and all its descendants, and returns them, the
// child first. PostgreSQL's backends have sessions of their own, so a signal to
// the process group would miss them.
func freeze(pid int) ([]process, error) {
	return freezeTree(func() ([]process, error) { return family(pid) })
}

// freezeTree stops the processes of list, which names parents before their children.
func freezeTree(list func() ([]process, error)) ([]process, error) {
	for deadline := time.Now().Add(quickLimit); ; time.Sleep(time.Millisecond) {
		tree, err := list()
		if err != nil {
			return nil, err
		}
		listed := map[int]bool{}
		for _, p := range tree {
			listed[p.pid] = true
		}
		still := map[int]bool{}
		for _, p := range tree {
			if p.stopped || p.dead {
				still[p.pid] = true
			}
		}
		if len(still) == len(tree) {
			return tree, nil
		}
		for _, p := range tree {
			// Top down: a stopped parent starts and reaps no child, so the PID of a
			// child cannot become another process's.
			if !still[p.pid] && (!listed[p.parent] || still[p.parent]) {
				if err := signal(p.pid, syscall.SIGSTOP); err != nil {
					return nil, err
				}
			}
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("process %d and its children do not stop in %v", tree[0].pid, quickLimit)
		}
	}
}

// thaw continues what freeze has stopped, the child itself last.
func thaw(pid int) error {
	tree, err := family(pid)
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(tree) {
		if p.stopped {
			if err := signal(p.pid, syscall.SIGCONT); err != nil {
				return err
			}
		}
	}
	return nil
}

// family returns a child of this process and its descendants, parents first.
func family(pid int) ([]process, error) {
	table, err := processes()
	if err != nil {
		return nil, err
	}
	var tree []process
	for _, p := range table {
		if p.pid == pid && p.parent == os.Getpid() && !p.dead {
			tree = append(tree, p)
		}
	}
	if len(tree) == 0 {
		return nil, errEnded
	}
	return descendants(tree, table), nil
}

// descendants adds their descendants in a table to processes, none of which descends from
// another.
func descendants(tree, table []process) []process {
	for i := 0; i < len(tree); i++ {
		for _, p := range table {
			if p.parent == tree[i].pid {
				tree = append(tree, p)
			}
		}
	}
	return tree
}

// killNaming kills the processes whose command line contains a text, and their descendants,
// whether or not they are our children. It returns how many there were.
func killNaming(text string) (int, error) {
	tree, err := freezeTree(func() ([]process, error) { return naming(text) })
	if err != nil {
		return 0, err
	}
	for _, p := range tree { // all are stopped, so none ends, and no process ID is reused
		if err := signal(p.pid, syscall.SIGKILL); err != nil {
			return 0, err
		}
	}
	return len(tree), awaitGone(tree, quickLimit)
}

// naming returns the processes whose command line contains a text, and their descendants.
func naming(text string) ([]process, error) {
	table, err := processes()
	if err != nil {
		return nil, err
	}
	named := map[int]bool{}
	for _, p := range table {
		named[p.pid] = !p.dead && strings.Contains(commandLine(p.pid), text)
	}
	var tree []process
	for _, p := range table {
		if named[p.pid] && !named[p.parent] {
			tree = append(tree, p)
		}
	}
	return descendants(tree, table), nil
}

// awaitGone waits until none of the processes runs.
func awaitGone(ps []process, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		table, err := processes()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(table, func(q process) bool {
			return !q.dead && slices.ContainsFunc(ps, func(p process) bool { return p.pid == q.pid && p.born == q.born })
		})
		if i < 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d is there %v after SIGKILL", table[i].pid, limit)
		}
	}
}

func signal(pid int, sig syscall.Signal) error {
	err := syscall.Kill(pid, sig)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %v to process %d: %w", sig, pid, err)
	}
	return nil
}

// serverUser returns the user of a server that refuses root, or nil if we are not root.
func serverUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	names := []string{"postgres", "nobody"}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("user %q: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("the server does not run as root, and there is no user %s", strings.Join(names, " or "))
}

// giveToUser makes dir the property of the user of a server that refuses root.
func giveToUser(dir string) error {
	u, err := serverUser()
	if err != nil || u == nil {
		return err
	}
	return os.Chown(dir, int(u.Uid), int(u.Gid))
}

// detached is for the watchdog: a Ctrl-C at the terminal must not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// plain is a path that a shell script may forget to quote, as MariaDB's does.
var plain = regexp.MustCompile(`^[\w/.,:=@%+~-]+$`)

// tempBase returns the folder for temporary files: TMPDIR, if the servers can
// use it. Root's may be closed to the user that PostgreSQL runs as.
func tempBase() (string, error) {
	first, err := filepath.Abs(os.TempDir())
	if err != nil {
		return "", err
	}
	bases := []string{first, "/tmp", "/var/tmp"}
	for _, base := range bases {
		if plain.MatchString(base) && (os.Getuid() != 0 || open(base)) {
			return base, nil
		}
	}
	return "", fmt.Errorf("none of %q is open to the user PostgreSQL runs as and has a name of plain letters: set TMPDIR", bases)
}

// open reports whether every user can enter dir.
func open(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for {
		i, err := os.Stat(real)
		if err != nil || !i.IsDir() || i.Mode()&0o001 == 0 {
			return false
		}
		parent := filepath.Dir(real)
		if parent == real {
			return true
		}
		real = parent
	}
}

// freeSharedMemory frees the segment that a killed PostgreSQL leaves in the
// kernel. Its number is the last word of line 7 of a file that a stop removes.
func freeSharedMemory(dir string) {
	b, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return // not PostgreSQL, or stopped
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) < 7 {
		return
	}
	if words := strings.Fields(lines[6]); len(words) == 2 {
		// Without the program, 56 bytes stay.
		_ = exec.Command(firstExecutable(searchPath(), []string{"ipcrm"}), "-m", words[1]).Run()
	}
}
