package graph

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// graph is the rows that a value leads to, and how they refer to each other.
type graph struct {
	ctx context.Context
	end func() // releases ctx
	db  *gorm.DB

	keys        *keys.Registry
	models      map[modelID]*model
	roots       []root
	rootSchemas map[*schema.Schema]bool
	joins       bool // walk to join rows as well
	customRoots bool // the handle says more of the roots than to insert them

	// The walk.
	nodes    map[unsafe.Pointer]*node // by the row's address
	slab     []node                   // where the next nodes are allocated
	joinRows map[joinID]reflect.Value
	walks    int // the number of walks
	order    []*node
	edges    []edge
	stack    []frame

	// The write.
	attempt  int              // from 1
	broken   map[edgeID]bool  // the edges that are set by an UPDATE, in all walks
	deferred map[*node][]edge // those of this schedule, by their child
	undo     undoLog
	stale    bool // a key changed after it was copied to foreign keys
}

// root is a row that the caller gave.
type root struct {
	row   reflect.Value
	model *model
}

type joinID struct {
	rel           *schema.Relationship
	owner, target *node
}

// role is how a row was reached. If there are several ways, the least role decides how the row
// is written.
type role uint8

const (
	isRoot    role = iota
	isChild        // by has-one or has-many
	isShared       // by belongs-to or many2many: other transactions may write it too
	isJoin         // a join row
	isOmitted      // the far side of a join row, which is not written itself
)

type state uint8

const (
	pending state = iota
	begun         // its hooks have run
	written
)

// node is one row.
type node struct {
	row      reflect.Value // an addressable struct
	model    *model
	role     role
	state    state
	keyGiven bool      // by this graph
	walk     int       // the last walk that met it
	via      *relation // how a child was reached
	inner    *node     // another row at the same address: a struct and its first field share it

	// The schedule.
	group   *group
	slot    int     // in the group
	waits   int     // for how many rows, or placed
	waiters int     // how many rows wait for this one, while they are counted
	waiting []*node // those rows
	same    *node   // another row with the same key, which is written instead
	batch   *batch  // once it is begun
}

// edge says that child holds a foreign key of parent.
type edge struct {
	child, parent *node
	refs          *[]reference
	belongsTo     bool // the relation is the child's
	deferred      bool // it is set by an UPDATE when all rows are written
}

// frame is a row on the way down.
type frame struct {
	n              *node
	relation, elem int
	ordered        bool
}

func newGraph(ctx context.Context, db *gorm.DB, value any) (*graph, error) {
	if db == nil || db.Config == nil || db.Statement == nil {
		return nil, errors.New("graph: the *gorm.DB is nil")
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if db.Error != nil {
		return nil, db.Error
	}
	registry := keys.Of(db)
	if registry == nil {
		return nil, errors.New("graph: the plugin is not in use on this handle: call db.Use first")
	}
	ctx, end := joinContexts(ctx, db.Statement.Context)
	// A session of its own: the caller's handle is only read.
	db = db.Session(&gorm.Session{Context: ctx})
	g := &graph{
		ctx: ctx, end: end, db: db, keys: registry,
		rootSchemas: map[*schema.Schema]bool{},
		models:      map[modelID]*model{},
		joinRows:    map[joinID]reflect.Value{},
		broken:      map[edgeID]bool{},
		deferred:    map[*node][]edge{},
	}
	v := reflect.ValueOf(value)
	err := g.addRoots(v, -1)
	if err == nil && len(g.roots) == 0 && (!v.IsValid() || reflect.Indirect(v).Kind() != reflect.Slice) {
		err = fmt.Errorf("graph: %s: %w", keys.TypeName(reflect.TypeOf(value)), gorm.ErrInvalidValue)
	}
	if err != nil {
		end()
		return nil, err
	}
	return g, nil
}

// addRoots finds the rows that were given. i is the index among them, or -1.
func (g *graph) addRoots(v reflect.Value, i int) error {
	name := func() string {
		if i < 0 {
			return "the value"
		}
		return fmt.Sprintf("row %d", i)
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return fmt.Errorf("graph: %s is a nil %s: %w", name(), keys.TypeName(v.Type()), gorm.ErrInvalidValue)
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		g.roots = slices.Grow(g.roots, v.Len())
		for i := range v.Len() {
			if err := g.addRoots(v.Index(i), i); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		if !v.CanAddr() {
			return fmt.Errorf("graph: %s is a %s by value: give a pointer to it", name(), keys.TypeName(v.Type()))
		}
		if n := len(g.roots); n > 0 && g.roots[n-1].row.Type() == v.Type() {
			g.roots = append(g.roots, root{v, g.roots[n-1].model})
			return nil
		}
		stmt := &gorm.Statement{DB: g.db}
		if err := stmt.Parse(v.Addr().Interface()); err != nil {
			return fmt.Errorf("graph: %s: %w", name(), err)
		}
		g.rootSchemas[stmt.Schema] = true
		m, err := g.modelOf(stmt.Schema, scope{selects: g.db.Statement.Selects, omits: g.db.Statement.Omits})
		if err != nil {
			return err
		}
		g.roots = append(g.roots, root{v, m})
		return nil
	case reflect.Invalid:
		return fmt.Errorf("graph: %s is nil: %w", name(), gorm.ErrInvalidValue)
	}
	return fmt.Errorf("graph: %s is a %s, not a model: %w", name(), keys.TypeName(v.Type()), gorm.ErrInvalidValue)
}
