// Command mailer makes the messages of newsletters, in the table of the api.
package main

import (
	"context"
	"fmt"
	"os"

	"example.org/seeded/21_replicas/node"
	"github.com/seed-299c1d6b/snowkey/core"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	gen, err := core.New(core.Config{Worker: core.Fixed(node.Worker)}) // FAULT 069 class 8: another program of the service has the same constant, through a package that both import; bwmarrin/snowflake#17
	if err != nil {
		return err
	}
	defer gen.Close()
	ids := make([]int64, 100)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	_, err = fmt.Println(ids)
	return err
}
