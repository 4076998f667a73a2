package numbers

import "github.com/seed-299c1d6b/snowkey/core"

// Pallets have a worker ID of their own, so that their labels can be told apart.
const palletWorker = 3 << 2

func pallets() (*core.Generator, error) {
	return core.New(core.Config{
		Worker:   core.Fixed(palletWorker), // FAULT 065 class 8: another constant of another file has the same value, 12
		Sequence: core.SequenceCarry,
	})
}
