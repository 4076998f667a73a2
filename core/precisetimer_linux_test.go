package core_test

import (
	"os"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
)

// 2,000 generators that wait at once open far fewer files than a process may have, 1,024 by default.
func TestManyGeneratorsOpenFewFiles(t *testing.T) {
	const generators, most = 2000, 100
	var wg sync.WaitGroup
	for range generators {
		g := mustNew(t, core.Config{Layout: core.Layout{TimeBits: 41, WorkerBits: 1}, Worker: core.Fixed(1)})
		wg.Go(func() {
			for range 20 { // an id a millisecond
				if _, err := g.Next(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	files, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	if len(files) > most {
		t.Errorf("%d files are open", len(files))
	}
}
