// Package snowerr ignores errors of generators.
package snowerr

import (
	"context"
	"errors"
	"log"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Order struct{ ID sqltype.ID }

// Source is an interface of the program's own.
type Source interface {
	Next(ctx context.Context) (int64, error)
}

func ignore(ctx context.Context, gen *core.Generator, src Source, orders []Order) {
	id, _ := gen.Next(ctx)                                                            // want `the error of Next is ignored`
	other, _ := src.Next(ctx)                                                         // want `the error of Next is ignored`
	gen.Fill(ctx, []int64{id})                                                        // want `the error of Fill is ignored`
	_ = gen.Fill(ctx, []int64{id})                                                    // want `the error of Fill is ignored`
	go gen.Fill(ctx, []int64{other})                                                  // want `the error of Fill is ignored`
	key, _ := sqltype.NextKey[Order](ctx, gen)                                        // want `the error of sqltype.NextKey is ignored`
	_ = sqltype.Assign(ctx, gen, orders, func(o *Order) *sqltype.ID { return &o.ID }) // want `the error of sqltype.Assign is ignored`
	_ = key
}

func overwritten(ctx context.Context, gen *core.Generator) (a, b int64, err error) {
	a, err = gen.Next(ctx) // want `the error of Next is overwritten before it is read`
	b, err = gen.Next(ctx)
	return a, b, err
}

func logged(ctx context.Context, gen *core.Generator) Order {
	id, err := gen.Next(ctx)
	if err != nil { // want `after an error of Next the program continues with the id 0`
		log.Print(err)
	}
	return Order{ID: sqltype.ID(id)}
}

func oneError(ctx context.Context, gen *core.Generator) (o Order) {
	if id, err := gen.Next(ctx); !errors.Is(err, core.ErrClosed) { // want `after another error of Next the program continues with the id 0`
		o.ID = sqltype.ID(id)
	}
	return o
}

func oneErrorBefore(ctx context.Context, gen *core.Generator) Order {
	id, err := gen.Next(ctx)
	if errors.Is(err, core.ErrClosed) { // want `after another error of Next the program continues with the id 0`
		return Order{}
	}
	return Order{ID: sqltype.ID(id)}
}

func dropped(ctx context.Context, gen *core.Generator) int64 {
	return must(gen.Next(ctx)) // want `must drops the error of Next`
}

func must(id int64, _ error) int64 { return id }

func loggedFill(ctx context.Context, gen *core.Generator, ids []int64) int64 {
	err := gen.Fill(ctx, ids)
	if err != nil { // want `after an error of Fill the program continues with the id 0`
		log.Print(err)
	}
	return ids[0]
}

func loggedFillIf(ctx context.Context, gen *core.Generator, ids []int64) int64 {
	if err := gen.Fill(ctx, ids[:1]); err != nil { // want `after an error of Fill the program continues with the id 0`
		log.Print(err)
	}
	return ids[0]
}

func loggedField(ctx context.Context, gen *core.Generator) (o Order, err error) {
	var n struct{ ID int64 }
	n.ID, err = gen.Next(ctx)
	if err != nil { // want `after an error of Next the program continues with the id 0 .snowerr.`
		log.Print(err)
	}
	return Order{ID: sqltype.ID(n.ID)}, nil
}

func loggedFieldIf(ctx context.Context, gen *core.Generator, o *Order) {
	var err error
	if o.ID, err = sqltype.NextID(ctx, gen); err != nil { // want `after an error of sqltype.NextID the program continues with the id 0`
		log.Print(err)
	}
	log.Print(o)
}

func reused(ctx context.Context, gen *core.Generator, save func(int64) error) error {
	id, err := gen.Next(ctx)
	if err != nil { // want `after an error of Next the program continues with the id 0`
		log.Print(err)
	}
	if err = save(id); err != nil {
		return err
	}
	return nil
}

// None of these is a fault.

func otherField(ctx context.Context, gen *core.Generator, o *struct{ ID, Kind sqltype.ID }) (err error) {
	if o.ID, err = sqltype.NextID(ctx, gen); err != nil {
		log.Print(err)
	}
	log.Print(o.Kind)
	return err
}

func filledAgain(ctx context.Context, gen, spare *core.Generator, ids []int64) error {
	err := gen.Fill(ctx, ids)
	if err != nil {
		err = spare.Fill(ctx, ids)
	}
	if err != nil {
		return err
	}
	log.Print(ids)
	return nil
}

func reusedLater(ctx context.Context, gen *core.Generator, save func(int64) error) error {
	id, err := gen.Next(ctx)
	if err != nil {
		log.Print(err)
	}
	if err == nil {
		err = save(id)
	}
	return err
}

func handled(ctx context.Context, gen *core.Generator) (Order, error) {
	id, err := gen.Next(ctx)
	if err != nil {
		return Order{}, err
	}
	return Order{ID: sqltype.ID(id)}, nil
}

func replaced(ctx context.Context, gen, spare *core.Generator) (int64, error) {
	id, err := gen.Next(ctx)
	if err != nil {
		id, err = spare.Next(ctx)
	}
	return id, err
}

func fatal(ctx context.Context, gen *core.Generator) int64 {
	id, err := gen.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	return id
}

func both(ctx context.Context, gen *core.Generator) (int64, error) {
	id, err := gen.Next(ctx)
	if errors.Is(err, core.ErrClosed) {
		return 0, nil
	}
	return id, err
}

func panics(ctx context.Context, gen *core.Generator) int64 { return check(gen.Next(ctx)) }

func check(id int64, err error) int64 {
	if err != nil {
		panic(err)
	}
	return id
}
