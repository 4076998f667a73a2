package browser

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the command when the tests are killed.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
