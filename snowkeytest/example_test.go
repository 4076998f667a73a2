package snowkeytest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// In a test, t is its *testing.T.
var t = &fake{name: "TestOrder"} //nolint:gochecknoglobals // as a parameter is in a test

func Example() {
	gen := snowkeytest.New(t, snowkeytest.Config{})
	fmt.Println(gen.Next(context.Background()))
	fmt.Println(gen.Next(context.Background()))
	// Output:
	// 1741610316462292992 <nil>
	// 1741610316462292993 <nil>
}

func ExampleNew() {
	gen := snowkeytest.New(t, snowkeytest.Config{Seed: 7, Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	ids := make([]int64, 2)
	err := gen.Fill(context.Background(), ids)
	fmt.Println(ids, err)
	// Output: [2006515775115116544 2006515775115116545] <nil>
}

func ExampleNewClock() {
	clock := snowkeytest.NewClock(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	gen := snowkeytest.New(t, snowkeytest.Config{Clock: clock, ClockPolicy: core.Refuse{}})
	fmt.Println(gen.Next(context.Background()))
	clock.Advance(-time.Minute)
	_, err := gen.Next(context.Background())
	fmt.Println(err)
	// Output:
	// 2006515713441005568 <nil>
	// core: the clock is 1m0s behind the last id, 0s is tolerated
}

func ExampleClock_Now() {
	clock := snowkeytest.NewClock(t, time.Time{})
	fmt.Println(clock.Now())
	// Output: 2024-01-01 00:00:00 +0000 UTC
}

func ExampleClock_Set() {
	clock := snowkeytest.NewClock(t, time.Time{})
	clock.Set(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(clock.Now())
	// Output: 2026-01-01 00:00:00 +0000 UTC
}

func ExampleClock_Advance() {
	clock := snowkeytest.NewClock(t, time.Time{})
	clock.Advance(90 * time.Second)
	fmt.Println(clock.Now())
	// Output: 2024-01-01 00:01:30 +0000 UTC
}

func ExampleNewStore() {
	store := snowkeytest.NewStore(t, nil)
	gen, err := worker.Open(context.Background(), store, worker.Config{Namespace: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(gen.Worker())
	fmt.Println(gen.Close(context.Background()))
	// Output:
	// 0
	// <nil>
}

func ExampleStore_Fail() {
	store := snowkeytest.NewStore(t, nil)
	down := errors.New("the database is down")
	store.Fail(down)
	_, err := worker.Open(context.Background(), store, worker.Config{ClaimWait: -1})
	fmt.Println(errors.Is(err, down))
	// Output: true
}

func ExampleStore_Slow() {
	store := snowkeytest.NewStore(t, nil)
	store.Slow(time.Hour)
	_, err := worker.Open(context.Background(), store, worker.Config{ClaimWait: -1, Timeout: 10 * time.Millisecond})
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

func ExampleStore_Lose() {
	store := snowkeytest.NewStore(t, nil)
	lost := make(chan core.Event, 1)
	gen, err := worker.Open(context.Background(), store, worker.Config{
		RenewInterval: 10 * time.Millisecond,
		Observer: observer(func(e core.Event) {
			if e.Kind == worker.Lost {
				lost <- e
			}
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())
	store.Lose()
	fmt.Println((<-lost).Kind)
	// Output: lost
}

func ExampleStore_Forget() {
	store := snowkeytest.NewStore(t, nil)
	forgotten := make(chan core.Event, 1)
	gen, err := worker.Open(context.Background(), store, worker.Config{
		RenewInterval: 10 * time.Millisecond,
		Observer: observer(func(e core.Event) {
			if e.Kind == worker.Forgotten {
				forgotten <- e
			}
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())
	store.Forget()
	fmt.Println(errors.Is((<-forgotten).Err, worker.ErrForgotten))
	// Output: true
}

type observer func(core.Event)

func (o observer) Observe(e core.Event) { o(e) }

func ExampleID() {
	fmt.Println(snowkeytest.ID(1), snowkeytest.ID(42))
	// Output: 1000000000000000001 1000000000000000042
}

func ExampleReplaceIDs() {
	fmt.Println(snowkeytest.ReplaceIDs(`{"id":"1996573624012345677","customer":"cus_1qda147xjq4ad","parent":"1996573624012345677"}`, "cus"))
	// Output: {"id":"<id-1>","customer":"<id-2>","parent":"<id-1>"}
}

func ExampleGolden() {
	reply := struct {
		ID   int64
		Note string
	}{1996573624012345677, "two"}
	snowkeytest.Golden(t, "testdata/example.json", reply)
	fmt.Println(len(t.errors))
	// Output: 0
}

func ExampleAnyID() {
	db, mock, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	mock.ExpectExec("INSERT INTO orders").WithArgs(snowkeytest.AnyID{}, "Ann").WillReturnResult(sqlmock.NewResult(0, 1))
	_, err = db.Exec("INSERT INTO orders VALUES (?, ?)", int64(1996573624012345677), "Ann")
	fmt.Println(err)
	// Output: <nil>
}

func ExampleAnyID_Match() {
	fmt.Println(snowkeytest.AnyID{}.Match(int64(1996573624012345677)), snowkeytest.AnyID{}.Match(int64(17)))
	// Output: true false
}

func ExampleAnyID_Pgx() {
	// mock.ExpectExec("INSERT INTO orders").WithArgs(snowkeytest.AnyID{}.Pgx(), "Ann")
	fmt.Println(snowkeytest.AnyID{}.Pgx().Match(snowkeytest.ID(1)))
	// Output: true
}

func ExamplePgxArgument_Match() {
	fmt.Println(snowkeytest.AnyID{}.Pgx().Match("Ann"))
	// Output: false
}

func ExampleSameID() {
	db, mock, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	order := new(snowkeytest.SameID)
	mock.ExpectExec("INSERT INTO orders").WithArgs(order, "Ann").WillReturnResult(sqlmock.NewResult(0, 1))
	mock.ExpectExec("INSERT INTO lines").WithArgs(snowkeytest.AnyID{}, order).WillReturnResult(sqlmock.NewResult(0, 1))

	_, err = db.Exec("INSERT INTO orders VALUES (?, ?)", int64(1996573624012345677), "Ann")
	fmt.Println(err)
	_, err = db.Exec("INSERT INTO lines VALUES (?, ?)", int64(1996573624012345678), int64(1996573624012345679))
	fmt.Println(err != nil, order.ID())
	// Output:
	// <nil>
	// true 1996573624012345677
}

func ExampleSameID_Match() {
	order := new(snowkeytest.SameID)
	fmt.Println(order.Match(int64(1996573624012345677)), order.Match(int64(1996573624012345678)))
	// Output: true false
}

func ExampleSameID_ID() {
	order := new(snowkeytest.SameID)
	order.Match(int64(1996573624012345677))
	fmt.Println(order.ID())
	// Output: 1996573624012345677
}

func ExampleSameID_Pgx() {
	order := new(snowkeytest.SameID)
	fmt.Println(order.Pgx().Match(snowkeytest.ID(1)), order.Pgx().Match(snowkeytest.ID(2)))
	// Output: true false
}
