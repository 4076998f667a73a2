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

// StopIn is the main function of a process that claims number 0 and then stops, as
// by SIGSTOP, in the middle of what is named. It goes on when it is continued and
// has read a line.
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
		err = s.change(ctx, "x", 0, func(row *driver.Record) error {
			stop()
			row.Fence = c.Fence + 1
			return nil
		})
	case "claim":
		err = d.locked(ctx, spaceLock, func(changing) error { stop(); return nil })
	case "end of claim":
		err = d.locked(ctx, spaceLock, func(changing) error {
			locks, err := d.takeLocks(3)
			stop()
			_ = locks.close()
			return err
		})
	case "operator":
		err = s.Release(ctx, driver.Return{Namespace: "x", Worker: 0, FencingToken: c.FencingToken, ClaimID: "child", Fence: c.Fence})
		if err == nil {
			err = s.change(ctx, "x", 0, func(*driver.Record) error { stop(); return nil })
		}
	}
	fmt.Println("child:", err)
	os.Exit(0)
}

// Asking is a request for a number, or for any, in the space "x" of four.
func Asking(number int64, token string) driver.Request {
	return driver.Request{
		Namespace: "x", Layout: "l", WorkerIDs: 4, Preferred: number, RequirePreferred: number >= 0, Exclude: -1, ClaimID: token, Owner: "o",
		Now: time.Now().UnixMilli(), FenceWindow: 60_000, TTL: 60_000, MaxSkew: 1 << 40, MaxLead: 1 << 40,
	}
}
