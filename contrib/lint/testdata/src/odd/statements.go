package odd

import (
	"context"
	_ "embed"
	"unsafe"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

//go:embed statements.go
var source string

const (
	_            = iota
	a sqltype.ID = 1 << (10 * iota)
	b
)

var (
	x, y = func() (sqltype.ID, string) { return b, source }()
	_, z = two()
	keys = [...]sqltype.ID{int(b % 3): a, b}
	deep = map[sqltype.ID]map[string][]*sqltype.ID{a: {"a": {new(sqltype.ID)}}}
	next = (*core.Generator).Next
	text = sqltype.ID.String
)

type odd struct {
	_, _ int64                                         ``
	A, B int64                                         `gorm`
	C    int64                                         `gorm:`
	D    int64                                         "gorm:\"size:x;;:;type:;\" `json`"
	E    int64                                         `json:",,string"`
	F    func(sqltype.ID) interface{ ID() sqltype.ID } `json:"-"`
	G    struct {
		int64
		error
		*odd
	}
	H chan<- struct{ ID sqltype.ID }
	I [unsafe.Sizeof(b)]*[]**sqltype.ID
}

func two() (_ int64, _ error) { return }

func (odd) m(_ int, _ ...string) {}

func variadic(n ...int64) (m []int64) {
	variadic(n...)
	variadic()
	m, n = n[:copy(m, n)], append([]int64(nil), n...)
	return
}

func statements(ctx context.Context, gen *core.Generator, ch chan int64) (n int64, err error) {
	var p *int64
outer:
	for {
		select {
		case n = <-ch:
			continue outer
		case n, ok := <-ch:
			_, _ = ok, n
			break outer
		default:
			goto end
		}
	}
	switch v := any(n).(type) {
	case int64:
		n = v
	case nil, error:
	}
	switch n, err := gen.Next(ctx); {
	case err == nil:
		return n, nil
	default:
	}
end:
	if *p, err = (gen).Next(ctx); err != nil {
		return 0, err
	}
	many := [2]int64{1: *p}
	many[0], many[1] = many[1], many[0]
	if many[0], err = next(gen, ctx); err != nil {
		return 0, err
	}
	defer func() { _ = recover() }()
	(func(sqltype.ID) {})(sqltype.ID(many[0]))
	_ = struct{ sqltype.ID }{x}.ID.Int64() + *(*int64)(unsafe.Pointer(&p)) + min(n, z2(), 3)
	clear(deep)
	return gen.Next(ctx)
}

func z2() int64 { n, _ := two(); return n + int64(len(keys)+len(text(x))+len(y)) }

func _() { _, _ = two(); init := z; _ = init; odd{}.m(1) }

func init() {}
func init() {}
