package redisstore

import (
	"context"
	_ "embed" // the script
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

//go:embed reserve.lua
var reserveScript string

// Reserve implements serial.Counter: it takes n numbers of a key, first to
// first+n-1, from 1 on. It is one script, atomic over all processes, and refuses
// what Claim refuses. Where the answer is lost, the numbers are taken all the same,
// and nobody has them.
//
// A key is 1 to 64 letters, digits and . _ - : / of ASCII. Count and Reserve of one
// name count together. Keys stay, without a time to live, until you delete them: a
// day's may go when nobody will ask for that day any more.
func (s *Store) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	if err := s.checkSync(ctx); err != nil {
		return 0, err
	}
	answer, err := s.run(ctx, "reserve", durableScript+reserveScript, s.key("counter", key), bit(s.cfg.AllowDataLoss), n)
	if err != nil {
		return 0, err
	}
	var last [1]int64
	switch {
	case answer.is("lossy", 4):
		return 0, answer.lossy()
	case !answer.is("ok", 2):
		return 0, answer.unexpected("reserve")
	}
	if err := answer.numbers(last[:]); err != nil {
		return 0, err
	}
	if last[0] < n {
		return 0, fmt.Errorf("redisstore: reserve %d numbers of key %q: the counter came to %d: it was changed", n, key, last[0])
	}
	return last[0] - n + 1, nil
}
