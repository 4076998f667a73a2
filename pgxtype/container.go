package pgxtype

import (
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"
)

// Arrays, ranges and multiranges of keys have too many types for registerDefaults. Where pgx does
// not know the type of a column, they get a type here that has a default.
type (
	arrayValue      struct{ pgtype.ArrayGetter }
	rangeArrayValue struct{ pgtype.ArrayGetter }
	rangeValue      struct{ pgtype.RangeValuer }
	multirangeValue struct{ pgtype.MultirangeGetter }

	arrayTarget      struct{ pgtype.ArraySetter }
	rangeArrayTarget struct{ pgtype.ArraySetter }
	rangeTarget      struct{ pgtype.RangeScanner }
	multirangeTarget struct{ pgtype.MultirangeSetter }
)

func registerContainers(m *pgtype.Map) {
	for name, types := range map[string][2]any{
		"_int8":          {arrayValue{}, arrayTarget{}},
		"_int8range":     {rangeArrayValue{}, rangeArrayTarget{}},
		"int8range":      {rangeValue{}, rangeTarget{}},
		"int8multirange": {multirangeValue{}, multirangeTarget{}},
	} {
		m.RegisterDefaultPgType(types[0], name)
		m.RegisterDefaultPgType(types[1], name)
	}
}

// contained returns how a value gets a type of this file, or nil if it holds no ids.
func contained(value any) func(any) any {
	if isNil(value) {
		return nil
	}
	switch v := value.(type) {
	case arrayValue, rangeArrayValue, rangeValue, multirangeValue: // pgx knows them
	case pgtype.ArrayGetter:
		switch element := v.IndexType(); {
		case holdsID(reflect.TypeOf(element)):
			return func(v any) any { return arrayValue{v.(pgtype.ArrayGetter)} }
		case isRange(element):
			return func(v any) any { return rangeArrayValue{v.(pgtype.ArrayGetter)} }
		}
	case pgtype.RangeValuer:
		if isRange(v) {
			return func(v any) any { return rangeValue{v.(pgtype.RangeValuer)} }
		}
	case pgtype.MultirangeGetter:
		if isRange(v.IndexType()) {
			return func(v any) any { return multirangeValue{v.(pgtype.MultirangeGetter)} }
		}
	}
	return nil
}

// containedTarget is contained for targets.
func containedTarget(target any) func(any) any {
	if isNil(target) {
		return nil
	}
	switch t := target.(type) {
	case arrayTarget, rangeArrayTarget, rangeTarget, multirangeTarget:
	case pgtype.ArraySetter:
		switch element := t.ScanIndexType(); {
		case holdsID(reflect.TypeOf(element)):
			return func(t any) any { return arrayTarget{t.(pgtype.ArraySetter)} }
		case isRangeTarget(element):
			return func(t any) any { return rangeArrayTarget{t.(pgtype.ArraySetter)} }
		}
	case pgtype.RangeScanner:
		if isRangeTarget(t) {
			return func(t any) any { return rangeTarget{t.(pgtype.RangeScanner)} }
		}
	case pgtype.MultirangeSetter:
		if isRangeTarget(t.ScanIndexType()) {
			return func(t any) any { return multirangeTarget{t.(pgtype.MultirangeSetter)} }
		}
	}
	return nil
}

// isNil reports whether v is a nil pointer, whose methods may need what it points to.
func isNil(v any) bool {
	p := reflect.ValueOf(v)
	return p.Kind() == reflect.Pointer && p.IsNil()
}

// isRange reports whether v is a range of ids. A pointer to one is none if it is nil.
func isRange(v any) bool {
	r, ok := v.(pgtype.RangeValuer)
	if !ok || reflect.ValueOf(v).Kind() == reflect.Pointer {
		return false
	}
	lower, _ := r.Bounds()
	return holdsID(reflect.TypeOf(lower))
}

func isRangeTarget(v any) bool {
	r, ok := v.(pgtype.RangeScanner)
	if !ok {
		return false
	}
	lower, _ := r.ScanBounds()
	return holdsID(reflect.TypeOf(lower))
}

func wrapContainer(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	if as := contained(value); as != nil {
		return &encodeContainer{as: as}, as(value), true
	}
	return nil, nil, false
}

type encodeContainer struct {
	as   func(any) any
	next pgtype.EncodePlan
}

func (p *encodeContainer) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *encodeContainer) Encode(value any, buf []byte) ([]byte, error) {
	return p.next.Encode(p.as(value), buf)
}

func wrapContainerTarget(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	if as := containedTarget(target); as != nil {
		return &scanContainer{as: as}, as(target), true
	}
	return nil, nil, false
}

type scanContainer struct {
	as   func(any) any
	next pgtype.ScanPlan
}

func (p *scanContainer) SetNext(next pgtype.ScanPlan) { p.next = next }

func (p *scanContainer) Scan(src []byte, target any) error { return p.next.Scan(src, p.as(target)) }
