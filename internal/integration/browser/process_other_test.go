//go:build !linux

package browser

import "syscall"

var dieWithParent *syscall.SysProcAttr
