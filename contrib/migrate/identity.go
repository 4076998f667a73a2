package migrate

import (
	"fmt"
	"math"
	"strings"
)

// The sequence of an identity column cannot be given to another column: DROP IDENTITY drops it. So the
// migration makes it again in the same transaction, with the same name and value.

// limitsOf returns the least and the greatest values of a type.
func limitsOf(typ string) (low, high int64) {
	switch typ {
	case "smallint":
		return math.MinInt16, math.MaxInt16
	case "integer":
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// options returns the options of the sequence for a type. A limit that equals the old type's limit becomes
// the new type's limit.
func (s *sequence) options(typ string) string {
	low, high := s.Min, s.Max
	oldLow, oldHigh := limitsOf(s.Type)
	newLow, newHigh := limitsOf(typ)
	if low == oldLow {
		low = newLow
	}
	if high == oldHigh {
		high = newHigh
	}
	text := fmt.Sprintf("START WITH %d INCREMENT BY %d MINVALUE %d MAXVALUE %d CACHE %d",
		s.Start, s.Increment, low, high, s.Cache)
	if s.Cycle {
		text += " CYCLE"
	}
	return text
}

// swapIdentity returns the statement that moves the identity of a member to its shadow, with the sequence's
// value. The first statement of the block changes nothing, but its lock makes calls of nextval wait for the
// new sequence.
func (m *member) swapIdentity(typ string) string {
	s, alter := m.live.Sequences[0], "ALTER TABLE "+m.table.sql()+" ALTER COLUMN "
	block := []string{
		"DECLARE place record; BEGIN",
		fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d;", s.Name, s.Increment),
		fmt.Sprintf("SELECT last_value, is_called INTO place FROM %s;", s.Name),
		alter + quote(m.live.Name) + " DROP IDENTITY;",
		fmt.Sprintf("%s%s ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s %s);",
			alter, quote(m.name), m.live.Identity, s.Name, s.options(typ)),
		fmt.Sprintf("PERFORM setval(%s, place.last_value, place.is_called); END", literal(s.Name)),
	}
	return "DO " + literal(strings.Join(block, " "))
}
