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
	for name, types := range map[string][]any{
		"_int8":          {keyArray{}, &keyArray{}, arrayValue{}, arrayTarget{}},
		"_int8range":     {rangeArrayValue{}, rangeArrayTarget{}},
		"int8range":      {rangeValue{}, rangeTarget{}},
		"int8multirange": {multirangeValue{}, multirangeTarget{}},
	} {
		for _, t := range types {
			m.RegisterDefaultPgType(t, name)
		}
	}
}

// contained returns value with a type of this file, or nil if it holds no keys.
func contained(value any) any {
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil // its methods may need it
	}
	switch v := value.(type) {
	case keyArray, arrayValue, rangeArrayValue, rangeValue, multirangeValue: // pgx knows them
	case pgtype.ArrayGetter:
		switch element := v.IndexType(); {
		case isKey(element):
			return arrayValue{v}
		case isRange(element):
			return rangeArrayValue{v}
		}
	case pgtype.RangeValuer:
		if isRange(v) {
			return rangeValue{v}
		}
	case pgtype.MultirangeGetter:
		if isRange(v.IndexType()) {
			return multirangeValue{v}
		}
	}
	return nil
}

// isRange reports whether v is a range of keys. A pointer to one is none if it is nil.
func isRange(v any) bool {
	r, ok := v.(pgtype.RangeValuer)
	if !ok || reflect.ValueOf(v).Kind() == reflect.Pointer {
		return false
	}
	lower, _ := r.Bounds()
	return twinOf(lower) != nil
}

func wrapContainer(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	if c := contained(value); c != nil {
		return &encodeContainer{as: c}, c, true
	}
	return nil, nil, false
}

type encodeContainer struct {
	as   any
	next pgtype.EncodePlan
}

func (p *encodeContainer) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *encodeContainer) Encode(value any, buf []byte) ([]byte, error) {
	switch p.as.(type) {
	case arrayValue:
		value = arrayValue{value.(pgtype.ArrayGetter)}
	case rangeArrayValue:
		value = rangeArrayValue{value.(pgtype.ArrayGetter)}
	case rangeValue:
		value = rangeValue{value.(pgtype.RangeValuer)}
	case multirangeValue:
		value = multirangeValue{value.(pgtype.MultirangeGetter)}
	}
	return p.next.Encode(value, buf)
}

// containedTarget is contained for targets.
func containedTarget(target any) any {
	if v := reflect.ValueOf(target); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	switch t := target.(type) {
	case *keyArray, arrayTarget, rangeArrayTarget, rangeTarget, multirangeTarget:
	case pgtype.ArraySetter:
		switch element := t.ScanIndexType(); {
		case isKeyTarget(element):
			return arrayTarget{t}
		case isRangeTarget(element):
			return rangeArrayTarget{t}
		}
	case pgtype.RangeScanner:
		if isRangeTarget(t) {
			return rangeTarget{t}
		}
	case pgtype.MultirangeSetter:
		if isRangeTarget(t.ScanIndexType()) {
			return multirangeTarget{t}
		}
	}
	return nil
}

func isRangeTarget(v any) bool {
	r, ok := v.(pgtype.RangeScanner)
	if !ok {
		return false
	}
	lower, _ := r.ScanBounds()
	return twinOf(lower) != nil
}

func wrapContainerTarget(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	if c := containedTarget(target); c != nil {
		return &scanContainer{as: c}, c, true
	}
	return nil, nil, false
}

type scanContainer struct {
	as   any
	next pgtype.ScanPlan
}

func (p *scanContainer) SetNext(next pgtype.ScanPlan) { p.next = next }

func (p *scanContainer) Scan(src []byte, target any) error {
	switch p.as.(type) {
	case arrayTarget:
		target = arrayTarget{target.(pgtype.ArraySetter)}
	case rangeArrayTarget:
		target = rangeArrayTarget{target.(pgtype.ArraySetter)}
	case rangeTarget:
		target = rangeTarget{target.(pgtype.RangeScanner)}
	case multirangeTarget:
		target = multirangeTarget{target.(pgtype.MultirangeSetter)}
	}
	return p.next.Scan(src, target)
}
