//go:build unix

package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// supported reports whether this system can start servers.
const supported = true

// process is one entry of the process table that has not ended.
type process struct {
	pid, parent int
	stopped     bool
	born        string // unique together with pid; empty if unknown
	command     string // its command line
}

// processes reads /proc, or asks ps where there is none. Every user can read these files, even in
// a container that forbids root to read the processes of other users.
func processes() (table []process, err error) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the only error is a bad pattern
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // ended meanwhile
		}
		// pid (name) state parent …, and the name may hold anything, also ") ".
		words := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(words) < 20 || words[0] == "Z" || words[0] == "X" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		parent, _ := strconv.Atoi(words[1])
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline")) // none: it has ended
		table = append(table, process{pid, parent, words[0] == "T", words[19], string(command)})
	}
	if len(table) > 0 {
		return table, nil
	}
	out, err := exec.Command("ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "command=").Output()
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) < 4 || words[2][0] == 'Z' {
			continue
		}
		pid, _ := strconv.Atoi(words[0])
		parent, _ := strconv.Atoi(words[1])
		table = append(table, process{pid, parent, words[2][0] == 'T', "", strings.Join(words[3:], " ")})
	}
	return table, err
}

// family returns a child of this process, the processes whose command line contains a text, and
// the descendants of them all, parents first.
func family(child int, text string) (tree []process, err error) {
	table, err := processes()
	for _, p := range table {
		if p.pid == child && p.parent == os.Getpid() || strings.Contains(p.command, text) {
			tree = append(tree, p)
		}
	}
	for i := 0; i < len(tree); i++ {
		for _, p := range table {
			if p.parent == tree[i].pid && !slices.Contains(tree, p) {
				tree = append(tree, p)
			}
		}
	}
	return tree, err
}

// freeze stops the processes of list, until none of them starts another one.
func freeze(list func() ([]process, error)) ([]process, error) {
	for deadline := time.Now().Add(quickLimit); ; time.Sleep(time.Millisecond) {
		tree, err := list()
		running := slices.IndexFunc(tree, func(p process) bool { return !p.stopped })
		if err != nil || running < 0 {
			return tree, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("process %d does not stop in %v", tree[running].pid, quickLimit)
		}
		// A stopped parent starts and reaps no child, so the process ID of a child is not reused.
		for _, p := range tree {
			if err := signal(p.pid, syscall.SIGSTOP); err != nil {
				return nil, err
			}
		}
	}
}

// thaw continues what freeze has stopped, the children first.
func thaw(list func() ([]process, error)) error {
	tree, err := list()
	for _, p := range slices.Backward(tree) {
		if p.stopped && err == nil {
			err = signal(p.pid, syscall.SIGCONT)
		}
	}
	return err
}

// killAll kills the processes of list, waits until they are gone, and returns how many there were.
// They are stopped first: later the children would be orphans, and PostgreSQL does not start beside
// children of its former self.
func killAll(list func() ([]process, error)) (int, error) {
	tree, err := freeze(list)
	if err != nil {
		return 0, err
	}
	for _, p := range tree {
		if err := signal(p.pid, syscall.SIGKILL); err != nil {
			return 0, err
		}
	}
	return len(tree), awaitGone(tree, quickLimit)
}

// awaitGone waits until none of the processes runs.
func awaitGone(ps []process, limit time.Duration) error {
	for deadline := time.Now().Add(limit); len(ps) > 0; time.Sleep(time.Millisecond) {
		table, err := processes()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(table, func(q process) bool {
			return slices.ContainsFunc(ps, func(p process) bool { return p.pid == q.pid && p.born == q.born })
		})
		if i < 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d is there %v after SIGKILL", table[i].pid, limit)
		}
	}
	return nil
}

func signal(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %v to process %d: %w", sig, pid, err)
	}
	return nil
}

// serverUser returns the user of a server that refuses root, or nil if we are not root.
func serverUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("the server does not run as root, and there is no user postgres or nobody: %w", err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

// giveToUser gives dir to the user of a server that refuses root.
func giveToUser(dir string) error {
	u, err := serverUser()
	if err != nil || u == nil {
		return err
	}
	return os.Chown(dir, int(u.Uid), int(u.Gid))
}

// attributes are those of a server's process. A Ctrl-C at the terminal does not reach its group.
func attributes(unprivileged bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if unprivileged {
		a.Credential, _ = serverUser() // giveToUser has reported the error
	}
	return a
}

// detached is for the watchdog: a Ctrl-C at the terminal must not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// freeSharedMemory frees the segment that a killed PostgreSQL leaves in the kernel. Its number is
// the last word of line 7 of a file that a stop removes. Without the program ipcrm, 56 bytes stay.
func freeSharedMemory(dir string) {
	b, _ := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid")) // none: not PostgreSQL, or stopped
	if lines := strings.Split(string(b), "\n"); len(lines) >= 7 {
		if words := strings.Fields(lines[6]); len(words) == 2 {
			_ = exec.Command(firstExecutable(searchPath(), []string{"ipcrm"}), "-m", words[1]).Run()
		}
	}
}
