package serial

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/serial"
)

const (
	childVariable = "SNOWKEY_TEST_SERIAL_CHILD" // driver, code, block and how many
	childDSN      = "SNOWKEY_TEST_SERIAL_DSN"
)

// numbering is what parent and children have in common.
func numbering(c serial.Counter, code string, block int64) serial.NumbersConfig {
	return serial.NumbersConfig{
		Prefix: "INV", Code: code, Separator: "-", Block: block, Counter: c,
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}
}

// child is another process: it prints each number at once.
func child() error {
	var driver, code string
	var block int64
	var many int
	if _, err := fmt.Sscan(os.Getenv(childVariable), &driver, &code, &block, &many); err != nil {
		return err
	}
	c, end, err := engine{driver: driver, dsn: os.Getenv(childDSN)}.open()
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience) // a child that hangs must not block the test
	defer cancel()
	n, err := serial.NewNumbers(numbering(c, code, block))
	if err != nil {
		return err
	}
	for range many {
		s, err := n.Next(ctx)
		if err != nil {
			return err
		}
		fmt.Println(s)
	}
	return nil
}

// Several processes draw from one counter. Some are killed, and others begin after them. No
// number is issued twice. A process leaves less than a block unused, or one block more if it
// dies before an answer arrives.
func TestProcesses(t *testing.T) {
	const processes, many, block = 6, 400, 8
	program, err := os.Executable()
	must(t, err)
	onEvery(t, func(t *testing.T, e engine) {
		code := code()
		var mu sync.Mutex
		seen := map[string]bool{}
		var wg sync.WaitGroup
		killed := 0
		for p := range processes {
			wg.Go(func() {
				cmd := exec.CommandContext(t.Context(), program)
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d", childVariable, e.driver, code, block, many), childDSN+"="+e.dsn)
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Error(err)
					return
				}
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				lines := bufio.NewReader(out)
				got, dies := 0, p%3 == 2
				for {
					line, err := lines.ReadString('\n')
					if err != nil { // half a line is of one that was killed
						break
					}
					got++
					mu.Lock()
					if seen[line] {
						t.Errorf("%q a second time", line)
					}
					seen[line] = true
					mu.Unlock()
					if dies && got == many/4 {
						_ = cmd.Process.Kill()
					}
				}
				err = cmd.Wait()
				mu.Lock()
				defer mu.Unlock()
				switch {
				case dies && err != nil:
					killed++
				case err != nil || got != many:
					t.Errorf("%d numbers, %v, %s", got, err, &stderr)
				}
			})
		}
		wg.Wait()
		first, err := e.counter(t).Reserve(t.Context(), "20261121:"+code, 1)
		must(t, err)
		given, taken := int64(len(seen)), first-1
		// Lines of a killed process may be lost in the pipe.
		if limit := int64(processes*(block-1) + killed*(many+block)); taken < given || taken-given > limit {
			t.Errorf("%d taken, %d given, %d killed; at most %d may be skipped", taken, given, killed, limit)
		}
		if taken%block != 0 {
			t.Errorf("%d taken, in blocks of %d", taken, block)
		}
	})
}
