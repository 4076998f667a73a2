package pgxload_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

// The error suggests Register if that would help, and only then.
func TestLoadHintsAtRegister(t *testing.T) {
	for _, register := range []bool{false, true} {
		s := newShop(t, pgx.QueryExecModeCacheStatement, register, `create table keys (text text, number bigint, at timestamptz, raw bytea)`)
		for column, fails := range map[string]bool{"text": !register, "number": false, "at": true, "raw": true} {
			for name, method := range methods {
				_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writeRows("keys", column, ids(big)...))
				if hint := strings.Contains(fmt.Sprint(err), "call pgxtype.Register"); (err != nil) != fails || hint != (column == "text" && !register) {
					t.Errorf("%s to %s, registered %t: %v", name, column, register, err)
				}
			}
		}
	}
}

// ownText is a program's codec for text. It takes strings only.
type ownText struct{ pgtype.TextCodec }

func (c ownText) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(string); !ok {
		return nil
	}
	return upper{}
}

type upper struct{}

func (upper) Encode(value any, buf []byte) ([]byte, error) {
	return append(buf, bytes.ToUpper([]byte(value.(string)))...), nil
}

// Load reads some pointers without pgx. It stores each value as pgx's CopyFrom does, fails where that
// fails, and refuses what that would change.
func TestLoadPointers(t *testing.T) {
	pointers := []any{(*string)(nil), (*int)(nil), (*int32)(nil), (*int64)(nil), (*float64)(nil), (*time.Time)(nil), new(true)}
	for _, s := range []string{"", "a text", "7", "2026-01-02", "\x00\xff"} {
		pointers = append(pointers, &s)
	}
	for _, n := range []int64{-1, 300, math.MaxInt16 + 1, math.MaxInt32 + 1, math.MinInt64} {
		pointers = append(pointers, &n, new(int(n)), new(int16(n)), new(int32(n)), new(ID(n)))
	}
	for _, f := range []float64{1.5, -2, 1e300, math.NaN(), math.Inf(-1)} {
		pointers = append(pointers, &f)
	}
	for _, at := range []time.Time{{}, time.Unix(1, 999), time.Date(2026, 7, 1, 1, 30, 0, 1500, time.FixedZone("east", 5*3600)), time.Date(2026, 7, 1, 23, 30, 0, 0, time.FixedZone("west", -5*3600)), time.Date(999_999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		pointers = append(pointers, &at)
	}
	types := []string{"text", "varchar", "int2", "int4", "int8", "numeric", "float4", "float8", "timestamptz", "timestamp", "date", "time", "jsonb", "bool", "bytea", "oid"}
	for name, register := range map[string]func(m *pgtype.Map){
		"bare": func(*pgtype.Map) {}, "registered": pgxtype.Register,
		"own": func(m *pgtype.Map) {
			m.RegisterType(&pgtype.Type{Name: "text", OID: pgtype.TextOID, Codec: ownText{}})
		},
	} {
		s := newShop(t, pgx.QueryExecModeCacheStatement, false, `select 1`)
		conn, err := s.pool.Acquire(t.Context())
		must(t, err)
		defer conn.Release()
		register(conn.Conn().TypeMap())
		for _, column := range types {
			byPgx, byLoad := "pgx_"+column, "load_"+column
			s.exec(t, `create table `+byPgx+` (n int, v `+column+`)`, `create table `+byLoad+` (n int, v `+column+`)`)
			var good []row
			for n, p := range pointers {
				_, byItself := conn.CopyFrom(t.Context(), pgx.Identifier{byPgx}, []string{"n", "v"}, pgx.CopyFromRows([][]any{{n, p}}))
				_, err := pgxload.Load(t.Context(), conn, writeRows(byLoad, "n v", row{n, p}))
				switch changed := err != nil && strings.Contains(err.Error(), "would be stored as "); {
				case byItself == nil && changed: // TestLoadRefusesOtherValues has these
					s.exec(t, fmt.Sprintf(`delete from %s where n = %d`, byPgx, n))
				case byItself == nil:
					good = append(good, row{n, p})
				case at(err).Row != 0:
					t.Errorf("%s: %T to %s is an error of pgx, not of Load: %v", name, p, column, err)
				}
			}
			s.exec(t, `truncate `+byLoad)
			if _, err := pgxload.Load(t.Context(), conn, writeRows(byLoad, "n v", good...)); err != nil || len(good) < 6 {
				t.Errorf("%s: %s: %v", name, column, err)
			}
			if wrong := ask[string](t, s, `select coalesce(string_agg(concat_ws(' ', n, p.v::text, l.v::text), ', '), '') from `+byPgx+` p full join `+byLoad+` l using (n) where p.v::text is distinct from l.v::text`); wrong != "" {
				t.Errorf("%s: %s: number, by pgx and by Load: %s", name, column, wrong)
			}
			if name == "own" {
				break // the other types are those in bare
			}
		}
	}
}
