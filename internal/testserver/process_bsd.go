//go:build unix && !linux

package testserver

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// dependent returns the attributes of a server's process. These systems send no
// signal when the parent dies: only the watchdog ends the servers.
func dependent(unprivileged bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if unprivileged {
		a.Credential, _ = serverUser() // giveToUser has reported the error
	}
	return a
}

// processes asks ps.
func processes() ([]process, error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "stat=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	var table []process
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		pid, pidErr := strconv.Atoi(words[0])
		parent, parentErr := strconv.Atoi(words[1])
		if pidErr != nil || parentErr != nil {
			continue
		}
		table = append(table, process{
			pid: pid, parent: parent,
			stopped: words[2][0] == 'T', dead: words[2][0] == 'Z',
		})
	}
	return table, nil
}

// commandLine asks ps.
func commandLine(pid int) string {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "" // it has ended
	}
	return string(out)
}
