package integration

import (
	"context"
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
)

// The handle's context ends a create as the argument does.
func TestGraphContextOfHandle(t *testing.T) {
	onGraphs(t, func(t *testing.T, db *gorm.DB) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		for want, ctx := range map[error]context.Context{context.Canceled: over, context.DeadlineExceeded: late} {
			for what, write := range map[string]func(h *gorm.DB, v any) error{
				"Create": func(h *gorm.DB, v any) error { return graph.Create(t.Context(), h, v) },
				"Assign": func(h *gorm.DB, v any) error { return graph.Assign(t.Context(), h, v) },
				"in a transaction": func(h *gorm.DB, v any) error {
					return db.Transaction(func(tx *gorm.DB) error { return graph.Create(t.Context(), tx.WithContext(h.Statement.Context), v) })
				},
			} {
				t.Run(what, func(t *testing.T) {
					p := everything("a")
					if err := write(db.WithContext(ctx), p); !errors.Is(err, want) {
						t.Errorf("%s: %v, want %v", what, err, want)
					}
					bare(t, db, what, p, everything("a"))
				})
			}
		}

		// In the midst of it, and with the values of the argument.
		seen, s := spyOn(db)
		for stop := range 12 {
			ctx, cancel := context.WithCancel(t.Context())
			s.reset()
			s.at = func(n int, _ string) error {
				if n == stop {
					cancel()
				}
				return nil
			}
			p := everything("a")
			if err := graph.Create(t.Context(), seen.WithContext(ctx), p); !errors.Is(err, context.Canceled) || errors.Is(err, graph.ErrOutcomeUnknown) {
				t.Errorf("cancelled at %d: %v", stop, err)
			}
			cancel()
			bare(t, db, "cancelled", p, everything("a"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var calls []string
		s.at = nil
		if err := graph.Create(contextWith(t.Context(), &calls), seen.WithContext(ctx), everything("a")); err != nil || ctx.Err() != nil {
			t.Errorf("%v, %v", err, ctx.Err())
		}
	})
}
