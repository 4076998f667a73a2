// Package torture tries to make leases issue an id twice: real processes that
// compete for numbers of one space in a real store, each with a clock of its own
// that steps to and fro, are stopped, killed and started again, while requests and
// answers are lost, late and doubled and the store itself fails. What every one of
// them handed out is written down, and then compared.
//
// The tests are all there is to it: see [TestFence], which says how to run it for
// longer, and [TestWithoutFence], which shows that it would find what it looks for.
package torture
