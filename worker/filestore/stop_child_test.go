//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filestore

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// StopIn is the main function of a process that claims worker ID 0 and then stops itself by
// SIGSTOP in the middle of the named step. It continues after SIGCONT and a line of input.
func StopIn(dir, what string) {
	ctx := context.Background()
	s := mustNew(New(Config{Dir: dir}))
	c, err := s.Claim(ctx, Asking(0, "child"))
	if err != nil {
		fmt.Println("child:", err)
		os.Exit(1)
	}
	d := directory{path: s.path("x")}
	stop := func() {
		fmt.Println("stops")
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	}
	switch what {
	case "renewal":
		err = s.change(ctx, key{"x", 0}, func(rec *driver.Record) bool {
			stop()
			rec.Fence = c.Fence + 1
			return true
		})
	case "claim":
		err = d.locked(ctx, claimLock, func(lockedDirectory) error { stop(); return nil })
	case "end of claim":
		err = d.locked(ctx, claimLock, func(lockedDirectory) error {
			locks, err := d.lockWorkerID(3)
			stop()
			_ = locks.close()
			return err
		})
	case "operator":
		err = s.Release(ctx, driver.Return{Namespace: "x", Worker: 0, FencingToken: c.FencingToken, ClaimID: "child", Fence: c.Fence})
		if err == nil {
			err = s.change(ctx, key{"x", 0}, func(*driver.Record) bool { stop(); return true })
		}
	}
	fmt.Println("child:", err)
	os.Exit(0)
}

// Asking is a request for a worker ID, or for any (-1), of the four in the namespace "x".
func Asking(workerID int64, claimID string) driver.Request {
	return driver.Request{
		Namespace: "x", Layout: "l", WorkerIDs: 4, Preferred: workerID, RequirePreferred: workerID >= 0, Exclude: -1, ClaimID: claimID, Owner: "o",
		Now: time.Now().UnixMilli(), FenceWindow: 60_000, TTL: 60_000, MaxSkew: 1 << 40, MaxLead: 1 << 40,
	}
}
