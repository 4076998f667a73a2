//go:build unix

package torture

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// taskVar gives a second run of this test binary a task, instead of the tests.
const taskVar = "SNOWKEY_TORTURE_TASK"

// A task is what a process of the test does.
type task struct {
	Role   string
	Store  string
	DSN    string
	Errors string // the file for what it says

	Addr string // of a handler

	Book  string // of a holder, or of a process that draws from Segments
	Seed  uint64
	Naive bool
}

const (
	holderRole   = "holder"
	handlerRole  = "handler"
	segmentsRole = "segments"
)

// A process runs a task in another run of this test binary. It ends when its input does, so also when this process is killed. It
// has its own process group: if it is stopped at that moment, the system continues it
// with a SIGHUP.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	errors string
	done   chan struct{}
}

func startProcess(k task) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(k.Errors, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the process has its own copy
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), taskVar+"="+string(text), "GORACE=halt_on_error=1")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, errors: k.Errors, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
	}()
	return p, nil
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) } // it may have ended

// kill kills the process, and waits for its end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// said returns the end of the output of this process, and of those before it in its slot.
func (p *process) said() string {
	b, err := os.ReadFile(p.errors)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-6000):])
}

// die ends a process that cannot do its task.
func die(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
