package integration

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
)

// oppositeOrders has writers create visits at once whose tags are in opposite orders, and gives
// the errors of those that failed. words names the words of each round.
func oppositeOrders(db *gorm.DB, rounds int, words func(round int) []string, create func(v *Visit) error) (failed []error) {
	const writers = 4
	var mu sync.Mutex
	for round := range rounds {
		var wg sync.WaitGroup
		start := make(chan struct{})
		for w := range writers {
			wg.Go(func() {
				v := &Visit{Name: "opposite", User: &User{Email: fmt.Sprintf("%d.%d@x", round, w)}}
				for _, word := range words(round) {
					v.Tags = append(v.Tags, Keyword{Word: word})
				}
				if w%2 == 1 {
					slices.Reverse(v.Tags)
				}
				<-start
				if err := create(v); err != nil {
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
				}
			})
		}
		close(start)
		wg.Wait()
	}
	return failed
}

func TestGraphOppositeOrders(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		words := func(round int) (words []string) {
			for i := range 100 {
				words = append(words, fmt.Sprint("word ", 50*round+i))
			}
			return words
		}
		failed := oppositeOrders(db.Session(&gorm.Session{}), 20, words, func(v *Visit) error { return gormplugin.Create(context.Background(), db, v) })
		t.Logf("%d of 80: %v", len(failed), failed)
	})
}
