//go:build unix

package testserver

import (
	"bytes"
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
		words := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
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

// freeze stops the processes of list, until none of them starts another one. A stopped parent reaps
// no child, so the process ID of a child is not reused.
func freeze(list func() ([]process, error)) error {
	for deadline := time.Now().Add(quickLimit); ; time.Sleep(time.Millisecond) {
		tree, err := list()
		running := slices.IndexFunc(tree, func(p process) bool { return !p.stopped })
		if err != nil || running < 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not stop in %v", tree[running].pid, quickLimit)
		}
		if err := signalAll(tree, syscall.SIGSTOP); err != nil {
			return err
		}
	}
}

// thaw continues what freeze has stopped, the children first.
func thaw(list func() ([]process, error)) error {
	tree, err := list()
	slices.Reverse(tree)
	return errors.Join(err, signalAll(tree, syscall.SIGCONT))
}

// killAll kills the processes of list, waits until they are gone, and returns how many there were.
// They are stopped first: later the children would be orphans, and PostgreSQL does not start next to
// children of its former self.
func killAll(list func() ([]process, error)) (int, error) {
	if err := freeze(list); err != nil {
		return 0, err
	}
	tree, err := list()
	return len(tree), errors.Join(err, signalAll(tree, syscall.SIGKILL), awaitGone(tree, quickLimit))
}

// awaitGone waits until none of the processes runs.
func awaitGone(ps []process, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		left, err := processes()
		left = slices.DeleteFunc(left, func(q process) bool {
			return !slices.ContainsFunc(ps, func(p process) bool { return p.pid == q.pid && p.born == q.born })
		})
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d is there %v after SIGKILL", left[0].pid, limit)
		}
	}
}

func signalAll(ps []process, sig syscall.Signal) error {
	for _, p := range ps {
		if err := syscall.Kill(p.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal %v to process %d: %w", sig, p.pid, err)
		}
	}
	return nil
}

// serverUser returns the user of a server that refuses root, or nil if we are not root. It is also
// nil if there is none: the server will say that it refuses root.
func serverUser() *syscall.Credential {
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil && os.Getuid() == 0 {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return nil
}

// giveToUser gives dir to the user of a server that refuses root.
func giveToUser(dir string) error {
	if u := serverUser(); u != nil {
		return os.Chown(dir, int(u.Uid), int(u.Gid))
	}
	return nil
}

// attributes returns the attributes of a server's process. A Ctrl-C at the terminal does not reach its group.
func attributes(unprivileged bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if unprivileged {
		a.Credential = serverUser()
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
