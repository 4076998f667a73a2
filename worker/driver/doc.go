// Package driver defines what a lease store implements. Programs that take a lease use
// package worker; this package is for authors of stores.
//
// A store keeps one [Namespace] for each name, and one [Record] for each of its worker IDs: who
// holds it, and the fence, which is the instant up to which ids may be issued under it. The
// methods Decide of [Claim], [Renewal] and [Release] say what a request changes. So a store
// reads, decides, and writes if nothing has changed meanwhile:
//
//	func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
//		return driver.Transact(ctx, c.Decide, s.read, s.write)
//	}
//
// Package storetest has the suite that every store must pass, yours included.
//
// # A store that forgets
//
// A store may be put back to an earlier state: by a failover to a replica that lacks the last
// writes, a restore, a crash without a flushed log, a TRUNCATE. The incarnation, a string that names
// the server and its present life, then differs from the recorded one. Before the store grants
// anything, the floor of the namespace is raised above every fence that may be forgotten, and
// claims start there. A lease is renewed only if its fence was in the future when the present
// incarnation was recorded: then no forgotten claim had its worker ID.
//
// # What a store must guarantee
//
//   - A read and the write that depends on it are one atomic step.
//   - Its clock, and the clocks of the servers that may succeed it, differ by at most MaxSkew.
//   - Once another server has taken over, the old one acknowledges nothing more.
//   - The incarnation changes whenever acknowledged writes may be lost. A value that stays the
//     same when writes are lost is not an incarnation.
//   - A floor that is still ahead of the clock is not lost.
//
// # Units
//
// Instants are Unix milliseconds and durations are whole milliseconds, so that nothing is rounded.
package driver
