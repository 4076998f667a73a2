package orms

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func toUUID(id sqltype.ID) string {
	h := fmt.Sprintf("%016x", id)
	return h[:8] + "-" + h[8:12] + "-8" + h[12:15] + "-8" + h[15:] + "00-000000000000"
}

func fromUUID(u string) (sqltype.ID, error) {
	if h := strings.ReplaceAll(u, "-", ""); len(h) == 32 {
		n, err := strconv.ParseInt(h[:12]+h[13:16]+h[17:18], 16, 64)
		if err == nil && toUUID(sqltype.ID(n)) == strings.ToLower(u) {
			return sqltype.ID(n), nil
		}
	}
	return 0, fmt.Errorf("%q is not the UUID of an id", u)
}

// The functions of docs/migrate.md, in Go and in PostgreSQL: the same UUIDs, of version 8, in the order of the ids,
// and back.
func TestUUIDs(t *testing.T) {
	db := engines.Postgres(t)
	db.Run(t, engines.Documented(t, "migrate.md", "## To UUIDs", 1)[0], "CREATE TABLE kept (id bigint PRIMARY KEY, uuid uuid GENERATED ALWAYS AS (id_to_uuid(id)) STORED)")
	ids := []sqltype.ID{0, 1, 15, 16, 1996573624012345677, math.MaxInt64}
	for range 500 {
		ids = append(ids, sqltype.ID(rand.Int64()>>rand.IntN(63))) //nolint:gosec // no secret
	}
	slices.Sort(ids)
	last := ""
	for _, id := range slices.Compact(ids) {
		text := toUUID(id)
		if u, err := uuid.Parse(text); err != nil || u.Version() != 8 || u.Variant() != uuid.RFC4122 || text != u.String() {
			t.Fatalf("%d: %s, %v", id, text, err)
		}
		if back, err := fromUUID(text); err != nil || back != id || cmp.Compare(last, text) >= 0 {
			t.Fatalf("%d: %s after %s is %d, %v", id, text, last, back, err)
		}
		var fromSQL string
		var back sqltype.ID
		var greater bool
		err := db.QueryRow("SELECT id_to_uuid($1), uuid_to_id($2::uuid), $2::uuid > $3::uuid", id, text, cmp.Or(last, uuid.Nil.String())).Scan(&fromSQL, &back, &greater)
		if err != nil || fromSQL != text || back != id || !greater {
			t.Fatalf("%d: %s in SQL, back %d, greater %t, %v", id, fromSQL, back, greater, err)
		}
		last = text
	}
	for _, wrong := range []string{"", "x", "0190163d-8694-739b-aea5-966c26f8ad91", toUUID(7)[1:], toUUID(7) + "0", strings.Replace(toUUID(7), "-8", "-4", 1), toUUID(7)[:35] + "1"} {
		if id, err := fromUUID(wrong); err == nil {
			t.Errorf("%q is %d", wrong, id)
		}
	}
	db.Expect(t, "NULL", "SELECT uuid_to_id('0190163d-8694-739b-aea5-966c26f8ad91')") // another UUID
}
