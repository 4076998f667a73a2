package migrate

import (
	"fmt"
	"math"
	"strings"
)

// An identity column has a sequence that cannot be given to another column: DROP IDENTITY drops it.
// So it is made again, in the same transaction, under the same name and where it was.

// identityMark is before ALWAYS or BY DEFAULT in the comment of a sequence that was an identity's.
const identityMark = versionMark + version + ": GENERATED "

// identity returns the sequence of an identity column, or nil.
func (c *column) identity() *sequence {
	if len(c.Sequences) == 0 || !c.Sequences[0].Identity {
		return nil
	}
	return &c.Sequences[0]
}

// generated returns ALWAYS or BY DEFAULT for an identity column, or one that was.
func (c *column) generated() string {
	switch {
	case c.Identity != "":
		return map[string]string{"a": "ALWAYS", "d": "BY DEFAULT"}[c.Identity]
	case len(c.Sequences) == 1:
		if kind, marked := strings.CutPrefix(c.Sequences[0].Comment, identityMark); marked {
			return kind
		}
	}
	return ""
}

// refuseIdentity returns an error for a sequence that would not be the same when it is made again.
func (t *table) refuseIdentity(c *column) error {
	s := c.identity()
	switch {
	case s == nil:
		return nil
	case s.Privileges || s.Comment != "":
		return refuse(t, "the sequence %s of the identity column %s has privileges or a comment, which would be lost", s.Name, c.Name)
	case s.User != "":
		return refuse(t, "%s depends on the sequence of the identity column %s, which is made anew", s.User, c.Name)
	}
	return nil
}

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

// options returns the options of the sequence for a type. A limit that its type has becomes the limit of the new type.
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
	text := fmt.Sprintf("START WITH %d INCREMENT BY %d MINVALUE %d MAXVALUE %d CACHE %d", s.Start, s.Increment, low, high, s.Cache)
	if s.Cycle {
		text += " CYCLE"
	}
	return text
}

// identityAs returns what makes a column an identity column with this sequence.
func (s *sequence) identityAs(kind, typ string) string {
	return fmt.Sprintf("ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s %s)", kind, s.Name, s.options(typ))
}

// recreate returns a statement that drops the sequence and makes it again, with its value. The first
// statement changes nothing: its lock makes others wait for the new sequence with nextval.
func (s *sequence) recreate(statements ...string) string {
	return do(fmt.Sprintf("DECLARE place record; BEGIN ALTER SEQUENCE %s INCREMENT BY %d; SELECT last_value, is_called INTO place FROM %s; %s; PERFORM setval(%s, place.last_value, place.is_called); END",
		s.Name, s.Increment, s.Name, strings.Join(statements, "; "), literal(s.Name)))
}

// do returns a statement that runs a block.
func do(block string) string {
	const quotes = "$snow$"
	if strings.Contains(block, quotes) {
		return "DO " + literal(block)
	}
	return "DO " + quotes + " " + block + " " + quotes
}

// swapIdentity moves the identity of a member to its shadow.
func (m *member) swapIdentity(typ string) string {
	s, alter := m.live.identity(), "ALTER TABLE "+m.table.sql()+" ALTER COLUMN "
	return s.recreate(alter+quote(m.live.Name)+" DROP IDENTITY", alter+quote(m.name)+" "+s.identityAs(m.live.generated(), typ))
}

// plainSequence makes the sequence of an identity column one that it owns, as that of a serial is.
func (t *table) plainSequence(c *column) string {
	s := c.identity()
	return s.recreate("ALTER TABLE "+t.sql()+" ALTER COLUMN "+quote(c.Name)+" DROP IDENTITY",
		fmt.Sprintf("CREATE SEQUENCE %s AS %s %s", s.Name, s.Type, s.options(s.Type)),
		fmt.Sprintf("ALTER SEQUENCE %s OWNER TO %s", s.Name, quote(t.Owner)),
		fmt.Sprintf("ALTER SEQUENCE %s OWNED BY %s.%s", s.Name, t.sql(), quote(c.Name)),
		fmt.Sprintf("COMMENT ON SEQUENCE %s IS %s", s.Name, literal(identityMark+c.generated())))
}

// identitySequence is the way back from plainSequence. A default is dropped.
func (t *table) identitySequence(c *column) string {
	s, alter := c.Sequences[0], "ALTER TABLE "+t.sql()+" ALTER COLUMN "+quote(c.Name)+" "
	return s.recreate(alter+"DROP DEFAULT", "DROP SEQUENCE "+s.Name, alter+s.identityAs(c.generated(), c.Type))
}
