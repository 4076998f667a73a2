// Package snowkeytest helps to test programs that make ids: a generator whose ids repeat, a clock
// that is set by hand, a lease store that fails on demand, ids that can be read at a glance, golden
// files, and matchers for mocks of databases:
//
//	func TestCreate(t *testing.T) {
//		t.Parallel()
//		gen := snowkeytest.New(t, snowkeytest.Config{})
//		order, err := shop.New(gen).Create(t.Context(), "Ann")
//		…
//		snowkeytest.Golden(t, "testdata/order.json", order)
//	}
//
// Packages snowkeytest/gormtest and snowkeytest/pgxtest open databases for tests of gorm and pgx.
//
// # What is guaranteed
//
// The ids of a generator of New depend on the name of the test and on Config alone. They are the
// same in each run, on each machine, and when other tests run at the same time.
//
// # What is not
//
// The ids of two tests that write to one table may be equal, although that is improbable: give one
// of them another Seed. If goroutines of one test share a generator, which of them gets which id
// is up to the scheduler.
//
// The package is for tests only: its ids are not unique among processes. So each constructor
// takes a testing.TB.
package snowkeytest
