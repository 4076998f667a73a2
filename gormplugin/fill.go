package gormplugin

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// fill is the create callback: it sets every zero key of the statement's rows.
func (p *Plugin) fill(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil || !stmt.ReflectValue.IsValid() {
		return
	}
	if err := p.fillStatement(stmt); err != nil {
		_ = db.AddError(fmt.Errorf("gormplugin: table %s: %w", stmt.Table, err))
	}
}

func (p *Plugin) fillStatement(stmt *gorm.Statement) error {
	rows := newRows(stmt.ReflectValue)
	pl := p.planOf(stmt)
	if err := checkTexts(stmt, pl, rows, true); err != nil {
		return err
	}
	targets, err := pl.targets, pl.err
	if err == nil {
		err = p.checkStrict(stmt.Schema, stmt.Table, pl)
	}
	if err != nil || len(targets) == 0 {
		return err
	}
	if err := p.checkCollations(stmt, targets); err != nil {
		return err
	}
	if err := checkRows(stmt, rows); err != nil {
		return err
	}
	if err := checkDetails(stmt, rows); err != nil {
		return err
	}
	if len(stmt.Selects)+len(stmt.Omits) > 0 {
		if targets, err = keepInStatement(stmt, targets); err != nil {
			return err
		}
	}
	twice, err := fillRows(stmt, targets, rows)
	if err == nil && twice > 0 {
		err = dropRepeated(stmt, rows, twice)
	}
	return err
}

// planOf is also of a table without a model.
func (p *Plugin) planOf(stmt *gorm.Statement) *plan {
	if stmt.Schema != nil {
		return p.plan(stmt.Schema, stmt.Table)
	}
	if t, ok := p.table(stmt.Table); ok {
		return &plan{targets: []target{t}}
	}
	return &plan{}
}

// fillRows sets the targets in all rows. Each source is asked once, and before the
// first row is touched: where one fails, no row has been given a key. It returns how
// many rows got their key as another row got its, because both are one struct.
func fillRows(stmt *gorm.Statement, targets []target, rows rowsOf) (twice int, err error) {
	ctx, missing := stmt.Context, make([]int, len(targets))
	for i := range targets {
		t := &targets[i]
		if missing[i], err = t.count(rows); err != nil {
			return 0, err
		}
		if missing[i] > 0 && t.source == nil {
			if !t.comes(stmt, rows) && (t.isOthers() || !hasCreateHook(stmt)) { // checkOwned looks again after the hooks
				return 0, t.notSet()
			}
			missing[i] = 0
		}
	}
	ids, err := reserve(ctx, targets, missing)
	if err != nil {
		return 0, err
	}
	noteFilled(stmt, targets, ids, rows.n)
	for i := range targets {
		left, err := targets[i].fill(ctx, rows, ids[i])
		if err != nil {
			return 0, err
		}
		twice = max(twice, left)
	}
	return twice, nil
}

// count is how many rows are without a key, each of which can be given one.
func (t *target) count(rows rowsOf) (int, error) {
	n := 0
	if t.path != nil && rows.plain {
		for i := range rows.n {
			if rows.field(i, t.path).Int() == 0 {
				n++
			}
		}
		return n, nil
	}
	for i := range rows.n {
		zero, err := t.isZero(rows.at(i))
		if err != nil {
			return 0, err
		}
		if zero {
			n++
		}
	}
	return n, nil
}

// fill gives the ids to the rows that are without, and returns how many are left over.
func (t *target) fill(ctx context.Context, rows rowsOf, ids []int64) (left int, err error) {
	if t.path != nil && rows.plain {
		for i := 0; i < rows.n && len(ids) > 0; i++ {
			if f := rows.field(i, t.path); f.Int() == 0 {
				f.SetInt(ids[0])
				ids = ids[1:]
			}
		}
		return len(ids), nil
	}
	for i := 0; i < rows.n && len(ids) > 0; i++ {
		row := rows.at(i)
		zero, err := t.isZero(row)
		if err != nil {
			return 0, err
		}
		if zero {
			t.set(ctx, row, ids[0])
			ids = ids[1:]
		}
	}
	return len(ids), nil
}

// reserve takes the ids of all targets, from each source in one call.
func reserve(ctx context.Context, targets []target, missing []int) ([][]int64, error) {
	ids := make([][]int64, len(targets))
	for i := range targets {
		if missing[i] == 0 || ids[i] != nil {
			continue
		}
		total := 0
		for j := i; j < len(targets); j++ {
			if targets[j].sourceName == targets[i].sourceName && targets[j].source != nil {
				total += missing[j]
			}
		}
		all, err := take(ctx, targets[i].source, total)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", targets[i].name, err)
		}
		for j := i; j < len(targets); j++ {
			if targets[j].sourceName == targets[i].sourceName && targets[j].source != nil {
				ids[j], all = all[:missing[j]], all[missing[j]:]
			}
		}
	}
	return ids, nil
}

// take asks the source for n ids.
func take(ctx context.Context, source Source, n int) ([]int64, error) {
	ids := make([]int64, n)
	var err error
	if n == 1 {
		ids[0], err = source.Next(ctx)
	} else {
		err = source.Fill(ctx, ids)
	}
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if id <= 0 {
			return nil, fmt.Errorf("the source gave %d, which is no key", id)
		}
	}
	return ids, nil
}
