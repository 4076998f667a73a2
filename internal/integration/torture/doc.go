// Package torture tries to make leases issue an id twice. Real processes compete for the
// worker IDs of one namespace in a real store, each with a clock that steps back and forth.
// They are stopped, killed and started again; requests and replies are lost, late and
// doubled; and the store fails. Each process records the ids that it issues, and the records
// are compared. Under [TestFence] the store forgets, too.
//
// [TestFence] and [TestSegments] document how to run it for longer. [TestWithoutFence] and
// [TestWithoutFloor] show that it finds duplicates if there are any. SNOWKEY_KNOCKS and SNOWKEY_KNOCKS_SEED are for package knocks, which
// `make torture` runs too.
package torture
