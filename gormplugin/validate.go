package gormplugin

import (
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Validate names, in one error, each snowflake field of the models that gorm
// still takes for auto-increment, and the tag that mends it. Left as it is, such a
// key becomes a sequence or an AUTO_INCREMENT column in AutoMigrate, and a
// counter that jumps into the range of the ids. It also names each field that
// cannot be filled, and on MySQL and MariaDB each base 62 key whose column would
// take A for a. If the handle has a [Plugin], its Config.Tables and the names of
// its sources are looked at too.
func Validate(db *gorm.DB, models ...any) error {
	if db == nil || db.Config == nil {
		return errNilDB
	}
	p, _ := db.Plugins[pluginName].(*Plugin)
	return p.validate(db, models)
}

func (p *Plugin) validate(db *gorm.DB, models []any) error {
	var faults []error
	for _, model := range models {
		stmt := &gorm.Statement{DB: db}
		if err := stmt.Parse(model); err != nil {
			faults = append(faults, fmt.Errorf("%T: %w", model, err))
			continue
		}
		fields, unfit := p.snowflakeFields(stmt.Schema, "")
		faults = append(faults, unfit...)
		for _, f := range fields {
			if err := p.validateField(db, stmt.Schema, f); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", fieldName(stmt.Schema, f.Field), err))
			}
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("gormplugin: %w", errors.Join(faults...))
	}
	return nil
}

func (p *Plugin) validateField(db *gorm.DB, s *schema.Schema, f snowflakeField) error {
	if isForeignKey(s, f.Field) {
		return nil
	}
	k, err := kindOf(f.Field, f.order)
	if err != nil {
		return err
	}
	if p != nil {
		if _, err := p.source(f.order.source); err != nil {
			return err
		}
	}
	tag, columnType := f.Tag.Get("gorm"), strings.ToLower(string(f.DataType))
	switch {
	case f.AutoIncrement && f.TagSettings["AUTOINCREMENT"] == "":
		return fmt.Errorf("the key of type %v is auto-increment to gorm: add autoIncrement:false to its gorm tag %q", f.FieldType, tag)
	case f.AutoIncrement:
		return fmt.Errorf("the gorm tag %q makes it auto-increment: say autoIncrement:false", tag)
	case strings.Contains(columnType, "serial") || strings.Contains(columnType, "auto_increment") || strings.Contains(columnType, "identity"):
		return fmt.Errorf("the type in its gorm tag %q gives keys of its own: say bigint", tag)
	case k == base62 && db.Name() == "mysql" && !strings.Contains(columnType, "bin"):
		return fmt.Errorf("columns of MySQL take A for a, and base 62 does not: add type:char(11) CHARACTER SET ascii COLLATE ascii_bin to its gorm tag %q", tag)
	}
	return nil
}
