// Package driver defines what a lease store implements. Programs that take a lease use
// package worker; this package is for authors of stores.
//
// A store keeps one record for each worker ID of a namespace: who holds it, and the fence,
// which is the instant up to which ids may be issued under it. Its three methods change
// one record each, in one compare-and-set:
//
//	type Store struct {
//		driver.Limiter
//		db *DB
//	}
//
//	func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
//		changed, err := s.db.Update(ctx, `… SET fence = greatest(fence, $1), expires = $2
//			WHERE worker = $3 AND claim_id = $4 AND fencing_token = $5`, …)
//		if err == nil && changed == 0 {
//			return driver.ErrNotHeld
//		}
//		return err
//	}
//
// Package storetest has the suite that every store must pass, yours included.
//
// # What a store must guarantee
//
// A store must not lose a write that it has acknowledged. Uniqueness rests on that, and on
// nothing about clocks. A store that can see that its settings allow such a loss refuses
// claims with a [*DurabilityError].
//
// # Units
//
// Instants are Unix milliseconds and durations whole milliseconds, so that nothing is
// rounded on the way.
package driver
