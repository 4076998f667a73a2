// Command snowkey makes, reads and looks after Snowflake ids on the command line.
package main

import (
	"os"
	_ "time/tzdata" // --tz works on machines without it

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/cli"
)

func main() { os.Exit(cli.Main()) }
