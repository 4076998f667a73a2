package graph

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// writer writes a graph in one transaction.
type writer struct {
	*graph
	batchSize        int
	tx               *gorm.DB // its statements are sent over conn
	conn             *conn
	commit, rollback func() error
	ownTx            bool // it began the transaction; false: a savepoint in the caller's, or a DryRun
	ended            bool // by a COMMIT whose outcome may be unknown
	mayRetry         bool // after a conflict
	result           Result
}

// writeBatches writes batch after batch, each by gorm's create without associations.
func (w *writer) writeBatches(batches []*batch) error {
	for _, b := range batches {
		for _, n := range b.rows { // their parents are written, or precede them
			if err := w.copyKeys(n, !w.db.DryRun); err != nil {
				return err
			}
		}
		if met := map[string]bool{}; b.mode != plain && b.mode != ofHandle { // as in gorm, rows of one key are one row
			b.rows = slices.DeleteFunc(b.rows, func(n *node) bool {
				key := n.keyText()
				repeated := key != "" && met[key]
				met[key] = true
				return repeated
			})
		}
		for _, chunk := range w.chunks(b.model, w.sortShared(b)) {
			if err := w.insert(chunk); err != nil {
				return err
			}
		}
	}
	if !slices.ContainsFunc(batches, func(b *batch) bool { return b.model.hooks }) {
		return nil
	}
	now, err := newGraph(w.ctx, w.db, w.value, true)
	same := func(a, b *node) bool {
		return a.role == isJoin && b.role == isJoin || a.row.Addr().Pointer() == b.row.Addr().Pointer()
	}
	both := func(a, b *edge) bool { return same(a.child, b.child) && same(a.parent, b.parent) }
	if err == nil && (!slices.EqualFunc(now.nodes, w.nodes, same) || !slices.EqualFunc(now.edges, w.edges, both)) {
		err = errors.New("graph: a hook has added, removed or moved associated rows: do that before the create")
	}
	return err
}

// sortShared returns the rows of a batch in the order in which they are written. It sorts shared rows
// by their unique columns and keys: they lock what they collide with, and transactions that lock in
// one order do not deadlock.
func (w *writer) sortShared(b *batch) []*node {
	if b.rows[0].role != isShared || len(b.rows) == 1 || b.nested {
		return b.rows
	}
	fields := b.model.schema.PrimaryFields
	sets, _ := w.keys.Uniques(w.db, b.model.schema) // the plugin reports the error
	for _, set := range slices.Backward(sets) {
		fields = slices.Concat(set.Fields, fields)
	}
	texts := make(map[*node]string, len(b.rows))
	for _, n := range b.rows {
		for _, f := range fields { // a collation may ignore case and trailing spaces
			texts[n] += strings.ToLower(strings.TrimRight(rows.Text(rows.Field(n.row, f.StructField.Index)), " ")) + "\x00"
		}
	}
	return slices.SortedStableFunc(slices.Values(b.rows), func(a, b *node) int { return strings.Compare(texts[a], texts[b]) })
}

// insert writes rows by one INSERT.
func (w *writer) insert(list []*node) error {
	gr := list[0].group
	tx := w.session(gr)
	tx.Statement.Settings.Store(keys.Referred{}, func(i int) bool { return list[i].children != nil })
	selects, omits, upsert := slices.Clone(tx.Statement.Selects), slices.Clone(tx.Statement.Omits), hasConflictClause(tx.Statement)
	tx = tx.Create(structsOf(list))
	stmt := tx.Statement
	if tx.Error != nil {
		return fmt.Errorf("graph: create %s: %w", gr.model.schema.Name, w.addLength(tx.Error, gr.model, list))
	}
	if n := len(selects); len(stmt.Selects) < n || !slices.Equal(stmt.Selects[:n], selects) || // the plugin may add columns
		n == 0 && len(stmt.Selects) > 0 || !slices.Equal(stmt.Omits, omits) || !upsert && hasConflictClause(stmt) {
		return fmt.Errorf("graph: create %s: a scope or a hook sets Select, Omit or a conflict clause: "+
			"set them on the handle", gr.model.schema.Name)
	}
	if err := w.check(stmt, upsert, list); err != nil {
		return err
	}
	table := gr.model.schema.Table
	if gr.mode == ofHandle {
		w.result.RowsAffected += tx.RowsAffected
		table = stmt.Table
	}
	i := slices.IndexFunc(w.result.Tables, func(t TableResult) bool { return t.Table == table })
	if i < 0 {
		i = len(w.result.Tables)
		w.result.Tables = append(w.result.Tables, TableResult{Table: table})
	}
	w.result.Tables[i].Inserts++
	w.result.Tables[i].RowsAffected += tx.RowsAffected
	if w.db.DryRun {
		w.result.Statements = append(w.result.Statements, Statement{SQL: stmt.SQL.String(), Vars: slices.Clone(stmt.Vars)})
	}
	return nil
}

// check compares rows with what was sent: a hook or a trigger may have changed a key to which other
// rows refer already, and a trigger may have dropped rows.
func (w *writer) check(stmt *gorm.Statement, upsert bool, list []*node) error {
	table, changed := list[0].model.schema.Table, "a hook or a trigger has changed it: set it before the create"
	if !upsert && !w.db.DryRun && stmt.RowsAffected < int64(len(list)) {
		return fmt.Errorf("graph: table %s: the database wrote %d of %d rows: "+
			"remove the trigger that drops or moves rows", table, stmt.RowsAffected, len(list))
	}
	sent, _ := stmt.Clauses["VALUES"].Expression.(clause.Values)
	_, returned := stmt.Clauses["RETURNING"]
	returned = returned && !upsert && len(sent.Values) == len(list)
	for i, n := range list {
		for e := n.parents; e != nil; e = e.nextParent {
			if e.parent.batch == n.batch && !e.isCopied() {
				return fmt.Errorf("graph: table %s: %s differs from the column that it refers to: %s", table, keys.FieldName(e.ref.to), changed)
			}
		}
		for k := 0; returned && k < len(sent.Columns); k++ {
			f, value := n.model.schema.FieldsByDBName[sent.Columns[k].Name], sent.Values[i][k]
			if _, made := value.(clause.Expression); made || f == nil || !f.PrimaryKey {
				continue
			}
			if got := rows.Text(rows.Field(n.row, f.StructField.Index)); got != rows.Text(reflect.ValueOf(value)) {
				return fmt.Errorf("graph: table %s: %s is %q, and %v was sent: %s", table, keys.FieldName(f), got, value, changed)
			}
		}
	}
	return nil
}

// structsOf returns what gorm creates: a pointer to the row, or a slice of pointers to the rows.
func structsOf(list []*node) any {
	if len(list) == 1 {
		return list[0].row.Addr().Interface()
	}
	structs := reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(list[0].row.Type())), len(list), len(list))
	for i, n := range list {
		structs.Index(i).Set(n.row.Addr())
	}
	return structs.Interface()
}

// session returns the handle for one INSERT: the caller's for the given rows, and else one like
// gorm's for an association. It omits relations by name: clause.Associations would also read a map
// that gorm changes when it parses other models.
func (w *writer) session(gr *group) *gorm.DB {
	tx := w.tx.Session(&gorm.Session{NewDB: gr.mode != ofHandle})
	tx.CreateBatchSize, tx.SkipDefaultTransaction = 0, true // only of this session
	omits := gr.model.related
	if gr.mode == ofHandle {
		omits = slices.Concat(w.db.Statement.Omits, omits)
	}
	tx = tx.Omit(omits...)
	w.db.Statement.Settings.Range(func(key, value any) bool {
		tx.Statement.Settings.Store(key, value)
		return true
	})
	var key []clause.Column
	for _, name := range gr.model.schema.PrimaryFieldDBNames {
		key = append(key, clause.Column{Name: name})
	}
	switch gr.mode {
	case doNothing:
		return tx.Clauses(clause.OnConflict{DoNothing: true})
	case moveChild:
		return tx.Clauses(clause.OnConflict{Columns: key, DoUpdates: clause.AssignmentColumns(strings.Split(gr.updates, ","))})
	case updateAll:
		return tx.Clauses(clause.OnConflict{Columns: key, UpdateAll: true}).Set("gorm:update_track_time", true)
	}
	defaults := gr.model.schema.FieldsWithDefaultDBValue
	_, set := tx.Statement.Clauses["RETURNING"]
	if set || gr.model.inexact || hasConflictClause(tx.Statement) || len(defaults) == 0 {
		return tx
	}
	for _, f := range defaults {
		if f.Readable && !f.PrimaryKey {
			key = append(key, clause.Column{Name: f.DBName})
		}
	}
	return tx.Clauses(clause.Returning{Columns: key}) // gorm returns the defaults; check needs the key
}

// hasConflictClause reports whether a statement may leave a row unwritten.
func hasConflictClause(stmt *gorm.Statement) bool {
	insert, _ := stmt.Clauses["INSERT"].Expression.(clause.Insert)
	_, conflict := stmt.Clauses["ON CONFLICT"]
	return conflict || insert.Modifier != ""
}

const (
	// maxBytes limits the values of one INSERT to half of the smallest default max_allowed_packet of
	// MySQL and MariaDB: a client that writes them into the statement may double their length.
	maxBytes    = 2 << 20
	scalarBytes = 20   // of a number or a time, written as text
	unsureRows  = 1000 // of an INSERT whose length cannot be measured
	spare       = 64   // parameters for the clauses of an upsert
)

// chunks divides rows into one list for each INSERT. A statement may have so many parameters, and
// so many are fast. With more, MariaDB is slower, each prepared statement takes megabytes in
// PostgreSQL, SQLite's pure Go driver binds them in quadratic time, and its driver in C gains nothing.
func (w *writer) chunks(m *model, list []*node) (chunks [][]*node) {
	limits := map[string][2]int{"postgres": {65535, 16384}, "mysql": {65535, 16384}, "sqlite": {32766, 1000}}
	limit := cmp.Or(limits[w.db.Name()], [2]int{2100, 2100}) // SQL Server's
	columns := max(1, len(m.schema.DBNames))
	size := limit[1] / columns
	if m.unsure || m.hooks { // a hook may change the values
		size = min(size, unsureRows)
	}
	size = max(1, min(cmp.Or(w.batchSize, max(0, w.db.CreateBatchSize), size), (limit[0]-spare)/columns))
	from, total := 0, 0
	for i, n := range list {
		length := m.bytesOf(n.row)
		if i > from && (i-from == size || total+length > maxBytes) {
			chunks = append(chunks, list[from:i:i])
			from, total = i, 0
		}
		total += length
	}
	return append(chunks, list[from:])
}

// bytesOf estimates the length of a row's values.
func (m *model) bytesOf(row reflect.Value) int {
	total := scalarBytes * len(m.schema.DBNames)
	for _, f := range m.texts {
		if v := rows.Indirect(rows.Field(row, f.StructField.Index)); v.IsValid() {
			total += v.Len()
		}
	}
	return total
}

// addLength adds the length of an INSERT to an error of MySQL or MariaDB that may be due to it. A server
// closes the connection of a client that sends too much, often before it answers.
func (w *writer) addLength(err error, m *model, list []*node) error {
	total := 0
	for _, n := range list {
		total += m.bytesOf(n.row)
	}
	const forms = "packet|invalid connection|bad connection|broken pipe|connection reset|EOF|wsasend"
	if long, _ := regexp.MatchString(forms, err.Error()); long && total > 1<<19 && w.db.Name() == "mysql" {
		return fmt.Errorf("%w (the INSERT of %d rows has about %d bytes: see max_allowed_packet)", err, len(list), total)
	}
	return err
}
