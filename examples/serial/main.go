// Command serial gives payments serial numbers that people can read, and invoices numbers without
// gaps, with GORM on SQLite:
//
//	go run ./examples/serial
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, time.Now)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "serial:", err)
		os.Exit(1)
	}
}

func written(err error) string {
	if err != nil {
		return "rolled back, " + err.Error()
	}
	return "written"
}
