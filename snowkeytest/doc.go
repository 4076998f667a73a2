// Package snowkeytest helps to test programs that make ids. It has a generator with reproducible
// ids, a clock that the test sets, a lease store that fails on demand, readable ids for fixtures,
// golden files, and argument matchers for database mocks:
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
// The ids of a generator made by New depend only on the name of the test and on Config. They are the
// same in each run and on each machine, also when other tests run at the same time.
//
// # What is not
//
// Two tests may get the same ids, although that is improbable. If they write to one table and
// collide, give one of them another Seed. If goroutines of one test share a generator, the
// scheduler decides which of them gets which id.
//
// The package is for tests only, because its ids are not unique among processes. So each
// constructor takes a testing.TB.
//
// To read the code, begin with clock.go, generator.go and store.go; the other files stand alone.
package snowkeytest
