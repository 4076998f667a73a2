package pgxload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// column is a column of a table, and how its values are encoded.
type column struct {
	found
	codec uint32       // the type whose codec encodes its values: text if AsText
	own   pgtype.Codec // pgx's codec, even if package pgxtype wraps it; a program's codec gets the caller's value
}

// columnsOf is the query for all columns of tables.
const columnsOf = `with recursive r as (select n, to_regclass(name) as id from unnest($1::text[]) with ordinality as names(name, n)),
	c(n, name, num, type) as (
	select r.n, attname, attnum, atttypid from r join pg_catalog.pg_attribute on attrelid = r.id where attnum > 0 and not attisdropped
	union all select c.n, c.name, c.num, d.typbasetype from c join pg_catalog.pg_type d on d.oid = c.type where d.typtype = 'd')
select (c.n - 1)::int, s.nspname, r.relname, c.name, pg_catalog.format_type(t.oid, null), t.oid, case when t.typcategory = 'A' or t.typtype = 'c' then 0::oid else t.typarray end,
	coalesce(p.prosrc in ('textrecv', 'varcharrecv', 'bpcharrecv', 'enum_recv'), false),
	exists (select from pg_catalog.pg_index i where i.indrelid = r.oid and i.indisprimary and c.num = any ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
from c join r id using (n) join pg_catalog.pg_type t on t.oid = c.type left join pg_catalog.pg_proc p on p.oid = t.typreceive
	join pg_catalog.pg_class r on r.oid = id.id join pg_catalog.pg_namespace s on s.oid = r.relnamespace
where t.typtype <> 'd'`

// found is a row of columnsOf.
type found struct {
	Table                      int
	Schema, Name, Column, Type string
	OID, Array                 uint32 // the type, or a domain's base type, and its array; 0 if unnest cannot make a column of it
	AsText, InPrimary          bool   // AsText: the server reads the binary form as text, for example for an enum or citext
}

// lookUpColumns looks up the columns of all new tables. It reports whether the Writer has no error.
func (w *Writer) lookUpColumns() bool {
	tables := w.tables[w.lookedUp:]
	if !w.wait() || len(tables) == 0 {
		return w.err == nil
	}
	w.lookedUp = len(w.tables)
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	rows, _ := w.tx.Query(w.ctx, columnsOf, pgx.QueryExecModeExec, names) // rows has the error
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[found])
	if err != nil {
		w.err = fmt.Errorf("pgxload: look up %q: %w", names, err)
	}
	for i, t := range tables {
		if w.err == nil {
			w.err = t.setTypes(slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.Table != i }))
		}
	}
	for _, t := range w.tables[:len(w.tables)-1] {
		w.err = cmp.Or(w.err, t.missing)
	}
	return w.err == nil
}

// setTypes sets the types of the table's columns, and finds a codec for each.
func (t *Table) setTypes(all []found) error {
	if len(all) == 0 {
		return t.errorAt(-1, "", errors.New("there is no such table"))
	}
	t.ident = pgx.Identifier{all[0].Schema, all[0].Name}
	for _, name := range t.columns {
		at := slices.IndexFunc(all, func(f found) bool { return f.Column == name })
		if at < 0 {
			return t.errorAt(-1, name, errors.New("the table has no such column"))
		}
		c := column{found: all[at], codec: all[at].OID}
		if _, known := t.w.types.TypeForOID(c.OID); !known && c.AsText {
			c.codec = pgtype.TextOID
		}
		known, ok := t.w.types.TypeForOID(c.codec)
		switch {
		case !ok: // pgx would send a value in the binary form of its Go type, and the server might read another
			return t.errorAt(-1, name, fmt.Errorf("pgx has no codec for its type %s: register one by RegisterType of each "+
				"connection's TypeMap (LoadType finds those of composites, ranges, enums and arrays), or make the column text", c.Type))
		case c.Array == 0 && !t.copies():
			return t.errorAt(-1, name, fmt.Errorf("is of type %s, which Unnest and OnConflict cannot send: "+
				"use Copy without OnConflict, or a column of jsonb", c.Type))
		}
		c.own = unwrap(known.Codec)
		if _, ok := known.Codec.(strict); !ok {
			t.w.types.RegisterType(&pgtype.Type{Name: known.Name, OID: known.OID, Codec: strict{known.Codec}})
		}
		t.types = append(t.types, c)
	}
	return t.findPrimary(all)
}

func unwrap(c pgtype.Codec) pgtype.Codec {
	if wrapper, ok := c.(interface{ Unwrap() pgtype.Codec }); ok {
		return unwrap(wrapper.Unwrap())
	}
	return c
}
