package browser

import "syscall"

// dieWithParent ends a command when the tests are killed.
var dieWithParent = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
