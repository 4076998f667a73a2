//go:build !unix

package testserver

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// supported is false, so nothing below is called.
const supported = false

type process struct{ pid int }

var (
	errEnded       = errors.New("the process has ended")
	errUnsupported = errors.New("servers are controlled on Unix-like systems only")
)

func freeze(int) ([]process, error)            { return nil, errUnsupported }
func killNaming(string) (int, error)           { return 0, errUnsupported }
func thaw(int) error                           { return errUnsupported }
func awaitGone([]process, time.Duration) error { return errUnsupported }
func signal(int, syscall.Signal) error         { return errUnsupported }
func giveToUser(string) error                  { return errUnsupported }
func dependent(bool) *syscall.SysProcAttr      { return nil }
func detached() *syscall.SysProcAttr           { return nil }
func freeSharedMemory(string)                  {}
func tempBase() (string, error)                { return os.TempDir(), nil }
