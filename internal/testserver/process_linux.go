package testserver

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// dependent returns the attributes of a server's process: it dies with the
// thread that started it. Its process group keeps a Ctrl-C at the terminal away.
func dependent(unprivileged bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if unprivileged {
		a.Credential, _ = serverUser() // giveToUser has reported the error
	}
	return a
}

// processes reads /proc. Every user can read its stat files, even in a container that
// forbids root to read the processes of other users.
func processes() ([]process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	table := make([]process, 0, len(files))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // ended meanwhile
		}
		// pid (name) state parent …, and the name may hold anything, also ") ".
		text := string(b)
		words := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(words) < 20 {
			continue
		}
		pid, pidErr := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		parent, parentErr := strconv.Atoi(words[1])
		if pidErr != nil || parentErr != nil {
			continue
		}
		state := words[0]
		table = append(table, process{
			pid: pid, parent: parent, born: words[19],
			stopped: state == "T", dead: state == "Z" || state == "X",
		})
	}
	return table, nil
}

// commandLine returns the command line of a process, with a zero after each word, or "" if it has ended.
func commandLine(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	return string(b)
}
