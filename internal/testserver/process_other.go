//go:build !unix

package testserver

import (
	"errors"
	"syscall"
)

// supported is false, so nothing below is called.
const supported = false

type process struct{}

func family(int, string) ([]process, error)          { return nil, errors.ErrUnsupported }
func freeze(func() ([]process, error)) error         { return errors.ErrUnsupported }
func killAll(func() ([]process, error)) (int, error) { return 0, errors.ErrUnsupported }
func thaw(func() ([]process, error)) error           { return errors.ErrUnsupported }
func giveToUser(string) error                        { return errors.ErrUnsupported }
func attributes(bool) *syscall.SysProcAttr           { return nil }
func detached() *syscall.SysProcAttr                 { return nil }
func freeSharedMemory(string)                        {}
