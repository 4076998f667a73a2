package gormplugin

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// statement is what the callbacks of one create share: the plan of the model, the rows, and which
// of them got ids. The first callback makes it.
type statement struct {
	stmt     *gorm.Statement
	plan     *keys.Plan
	rows     rows.Rows
	columns  []*keys.Column // those of the plan that are written
	filled   []filled
	hooks    bool    // the model has hooks before the INSERT
	conflict bool    // there is a conflict clause
	upsert   *upsert // nil if no row can have another key
	sent     bool    // the INSERT has succeeded

	associated   bool         // gorm creates the rows with others, which refer to them
	associations []*statement // gorm's creates of associated rows
}

// filled is a column, the indexes of the rows in which it was zero, and their ids.
type filled struct {
	column *keys.Column
	rows   []int
	ids    []int64
}

// statementKey is the key of a statement in gorm's Settings.
type statementKey struct{}

func newStatement(stmt *gorm.Statement, plan *keys.Plan) *statement {
	s := &statement{stmt: stmt, plan: plan, rows: rows.Of(stmt.ReflectValue)}
	if v, ok := stmt.Settings.Load(statementKey{}); ok {
		outer := v.(*statement)
		outer.associations, s.associated = append(outer.associations, s), true
	}
	stmt.Settings.Store(statementKey{}, s)
	return s
}

// statementOf returns the statement of a create, or nil. gorm copies the Settings to the creates of
// associations: the statement there is another create's.
func statementOf(stmt *gorm.Statement) *statement {
	if v, ok := stmt.Settings.Load(statementKey{}); ok && v.(*statement).stmt == stmt {
		return v.(*statement)
	}
	return nil
}

var errNotFilled = errors.New("snowkey:fill did not run before the INSERT: do not remove or replace gorm:before_create")

// fill sets every zero key of the rows. It calls each source once, before it changes a row: if one
// fails, no row has a key.
func (s *statement) fill() error {
	if s.plan.Err != nil {
		return s.plan.Err
	}
	if err := s.rows.Check(s.stmt); err != nil {
		return err
	}
	if _, upserts := s.stmt.Clauses["ON CONFLICT"]; upserts { // rows share an association: write it once, as gorm does if its key is set
		if distinct, again := s.rows.Distinct(); again {
			s.stmt.Dest, s.stmt.ReflectValue, s.rows = distinct.Interface(), distinct, rows.Of(distinct)
		}
	}
	var needs []keys.Need // of s.filled
	for i := range s.plan.Columns {
		c := &s.plan.Columns[i]
		if c.Source != nil && len(s.stmt.Selects)+len(s.stmt.Omits) > 0 {
			if selected, err := s.selects(c); err != nil {
				return err
			} else if !selected {
				continue
			}
		}
		if s.columns = append(s.columns, c); c.Source == nil {
			continue
		}
		zero, err := c.Zero(&s.rows)
		if err != nil {
			return err
		}
		if len(zero) > 0 {
			needs = append(needs, keys.Need{Column: c, N: len(zero)})
			s.filled = append(s.filled, filled{column: c, rows: zero})
		}
	}
	if err := keys.Take(s.stmt.Context, needs); err != nil {
		s.filled = nil
		return err
	}
	for k, need := range needs {
		s.filled[k].ids = need.IDs
	}
	s.setIDs()
	return nil
}

// setIDs sets what was zero to the ids that were taken.
func (s *statement) setIDs() {
	for _, f := range s.filled {
		for n, i := range f.rows {
			f.column.Set(s.stmt.Context, s.rows.At(i), f.ids[n])
		}
	}
}

// selects adds the column to the statement's Select, if it has one. A key that Omit names is an
// error; another column that Omit names is not filled.
func (s *statement) selects(c *keys.Column) (bool, error) {
	named, restricted := s.stmt.SelectAndOmitColumns(true, false)
	kept, isNamed := named[c.DBName]
	switch {
	case isNamed && !kept && (c.Field == nil || c.Field.PrimaryKey):
		return false, fmt.Errorf("%s is left out by Omit, so the row would get another key: remove it from Omit", c.Name)
	case !isNamed && restricted:
		s.stmt.Selects = append(slices.Clip(s.stmt.Selects), c.DBName) // a copy: the statement shares the slice with its handle
	}
	return kept || !isNamed, nil
}

// check refuses rows whose key is zero after the hooks, and prepares an upsert.
func (s *statement) check(registry *keys.Registry, db *gorm.DB) error {
	s.hooks = s.stmt.Schema != nil && !s.stmt.SkipHooks && (s.stmt.Schema.BeforeSave || s.stmt.Schema.BeforeCreate)
	for _, c := range s.columns {
		if c.Source == nil || s.hooks {
			if zero, err := c.Zero(&s.rows); err != nil || len(zero) > 0 {
				return cmp.Or(err, c.ErrNotSet())
			}
		}
	}
	on, conflict := conflictOf(s.stmt)
	if s.conflict = conflict; s.stmt.Schema == nil {
		return nil
	}
	if on.UpdateAll {
		s.keepNumbers()
	}
	if _, returning := s.stmt.Clauses["RETURNING"]; returning {
		returnInPlace(s.stmt)
	}
	if conflict && s.plan.Fills() && s.rows.AreStructs() {
		return s.prepareUpsert(registry, db, on)
	}
	return nil
}

// undo zeroes the keys of rows that were not written. It returns the reason, if gorm does not say it.
func (s *statement) undo(db *gorm.DB) (err error) {
	var state interface{ SQLState() string }
	switch {
	case db.Error == nil && !db.DryRun:
		err = errors.New("snowkey:resolve did not run after the INSERT: do not remove gorm:save_after_associations")
	case errors.As(db.Error, &state) && state.SQLState() == "428C9":
		err = errors.New("the column is GENERATED ALWAYS AS IDENTITY: run ALTER TABLE … ALTER COLUMN … SET GENERATED BY DEFAULT first")
	}
	_, ofGraph := s.stmt.Settings.Load(keys.Referred{})
	if err != nil || db.Error != nil || !s.associated && !ofGraph { // after a DryRun, what created the other rows needs the keys
		_, began := db.InstanceGet("gorm:started_transaction")
		s.reset(began)
	}
	return err
}

// reset sets what the plugin has filled back to zero, in associations too. If gorm does not roll
// back, inserted rows stay in the database, and keep their keys.
func (s *statement) reset(rolledBack bool) {
	for _, a := range s.associations {
		a.reset(rolledBack)
	}
	if s.sent && !rolledBack {
		return
	}
	for _, f := range s.filled {
		for _, i := range f.rows {
			f.column.Clear(s.stmt.Context, s.rows.At(i))
		}
	}
}

// checkDatabaseKey refuses rows whose key the database makes if the plugin is strict and they have
// no conflict clause. Else it logs one line for each model.
func (p *Plugin) checkDatabaseKey(db *gorm.DB, plan *keys.Plan) error {
	stmt := db.Statement
	_, upserts := conflictOf(stmt)
	refuse := p.cfg.Strict && !upserts
	if !refuse && (plan.Noticed.Load() || !plan.Database.Field.HasDefaultValue) || p.registry.Exempts(stmt.Schema, stmt.Table) {
		return nil
	}
	list := rows.Of(stmt.ReflectValue)
	if list.Check(stmt) != nil {
		return nil //nolint:nilerr // such rows are gorm's to accept or refuse
	}
	if zero, err := plan.Database.Zero(&list); err != nil || len(zero) == 0 {
		return err
	}
	text := keys.DatabaseKey(plan.Database.Field, stmt.Table)
	if refuse {
		return errors.New(text)
	}
	if plan.Noticed.CompareAndSwap(false, true) {
		db.Logger.Warn(stmt.Context, "snowkey: table %s: %s", stmt.Table, text)
	}
	return nil
}
