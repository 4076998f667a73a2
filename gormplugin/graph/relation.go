package graph

import (
	"context"
	"reflect"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

type relationKind uint8

const (
	belongsTo relationKind = iota
	hasOne
	hasMany
	manyToMany
)

// relation is a relation that the walk follows.
type relation struct {
	rel       *schema.Relationship
	kind      relationKind
	scope     scope       // of the other side
	to        *model      // the other side, once a row of it was met
	refs      []reference // the foreign keys in the child
	joinRefs  []reference // of a many2many: the join row's foreign keys of the owner
	otherRefs []reference // and of the other side
	columns   []string    // the names of the foreign key's columns
	joinOnly  bool        // of a many2many: Omit("Tags.*") writes the join rows alone
}

func (r *relation) isList() bool { return r.kind == hasMany || r.kind == manyToMany }

func (r *relation) index() []int { return r.rel.Field.StructField.Index }

func (g *graph) newRelation(rel *schema.Relationship, kind relationKind, selected rows.Selection) relation {
	r := relation{rel: rel, kind: kind, scope: childScope(rel.Name, selected)}
	for _, ref := range rel.References {
		to := reference{from: ref.PrimaryKey, constant: ref.PrimaryValue, to: ref.ForeignKey, digits: keys.CopiesAsRune(ref), narrow: g.keys.Narrow(ref)}
		if ref.PrimaryValue != "" {
			to.from = nil
		} else if f := ref.PrimaryKey; f != nil {
			to.auto = isAuto(f, g.keys.Plan(f.Schema, g.tableOf(f.Schema)).Columns) // its model reports an error of the plan
		}
		switch own := ref.OwnPrimaryKey || ref.PrimaryValue != ""; {
		case kind == manyToMany && own:
			r.joinRefs = append(r.joinRefs, to)
		case kind == manyToMany:
			r.otherRefs = append(r.otherRefs, to)
		case own || kind == belongsTo:
			r.refs = append(r.refs, to)
		}
		r.columns = append(r.columns, ref.ForeignKey.DBName)
	}
	if kind == manyToMany && selected.Omits(rel.Name+".*") {
		r.joinOnly, r.scope = true, scope{}
	}
	return r
}

// reference copies one column of a key to a foreign key.
type reference struct {
	from     *schema.Field // nil: the constant
	constant string        // the type of a polymorphic relation
	to       *schema.Field
	auto     bool  // the database makes from
	digits   bool  // to is a text, and gets from's digits
	narrow   error // to cannot hold every value of from
}

// source returns the parent's field; it is not valid behind a nil embedded pointer.
func (r *reference) source(parent reflect.Value) reflect.Value {
	return rows.Field(parent, r.from.StructField.Index)
}

// target returns the child's field, as source does.
func (r *reference) target(child reflect.Value) reflect.Value {
	return rows.Field(child, r.to.StructField.Index)
}

// copy sets the child's column to what the parent's has.
func (r *reference) copy(ctx context.Context, parent, child reflect.Value, log *undoLog) error {
	if r.from == nil {
		leaf := r.to.ReflectValueOf(ctx, child)
		if leaf.Kind() == reflect.String && leaf.String() == r.constant {
			return nil
		}
		log.save(leaf)
		return r.to.Set(ctx, child, r.constant)
	}
	if r.narrow != nil {
		return r.narrow
	}
	from := r.source(parent)
	if r.auto && (!from.IsValid() || from.IsZero()) {
		return nil
	}
	leaf := r.to.ReflectValueOf(ctx, child)
	if id, ok := rows.Integer(from); ok && rows.IsInteger(leaf.Type()) {
		if now, ok := rows.Integer(leaf); ok && now == id {
			return nil
		}
		log.save(leaf)
		if leaf = renew(leaf); leaf.CanInt() {
			leaf.SetInt(id)
		} else {
			leaf.SetUint(uint64(id))
		}
		return nil
	}
	if r.digits {
		if text, ok := rows.Digits(from); ok {
			if now := rows.Indirect(leaf); !now.IsValid() || now.String() != text {
				log.save(leaf)
				renew(leaf).SetString(text)
			}
			return nil
		}
	}
	value, _ := r.from.ValueOf(ctx, parent)
	log.save(leaf)
	if leaf.Kind() == reflect.Pointer {
		leaf.SetZero()
	}
	if err := r.to.Set(ctx, child, value); err != nil {
		return err
	}
	log.dropIfSame()
	return nil
}

// renew sets a pointer to a new value, because another row may share the old one. It returns the
// value.
func renew(leaf reflect.Value) reflect.Value {
	for leaf.Kind() == reflect.Pointer {
		leaf.Set(reflect.New(leaf.Type().Elem()))
		leaf = leaf.Elem()
	}
	return leaf
}
