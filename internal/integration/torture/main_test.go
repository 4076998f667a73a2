//go:build unix

package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9/logging"

	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
)

// TestMain runs the tests, or the task for which a test has started this binary.
func TestMain(m *testing.M) {
	_ = mysql.SetLogger(new(mysql.NopLogger)) // that a server is gone is no news here
	logging.Disable()
	text := os.Getenv(taskVar)
	if text == "" {
		m.Run()
		return
	}
	var k task
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		die(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
		time.Sleep(15 * time.Second) // for what is under way
		os.Exit(0)
	}()
	var err error
	switch k.Role {
	case holderRole:
		err = hold(ctx, k)
	case segmentsRole:
		err = drawSegments(ctx, k)
	case handlerRole:
		err = handle(ctx, k)
	default:
		err = fmt.Errorf("no role %q", k.Role)
	}
	if err != nil {
		die(err)
	}
	os.Exit(0)
}

// handle serves a store over HTTP.
func handle(ctx context.Context, k task) error {
	store, err := openStore(k.Store, k.DSN)
	if err != nil {
		return err
	}
	handler, err := httpstore.NewHandler(store, httpstore.HandlerConfig{Tokens: []string{httpToken}, Admin: true})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", k.Addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/leases/", http.StripPrefix("/leases", handler))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
