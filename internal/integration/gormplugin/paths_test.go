package gormplugin

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/plugin/dbresolver"

	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
	"github.com/seed-299c1d6b/snowkey/internal/integration/gormplugin/gen/model"
	"github.com/seed-299c1d6b/snowkey/internal/integration/gormplugin/gen/query"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Doc = model.Doc

// docsOf returns docs with names of their path.
func docsOf(path string, n int) []Doc {
	docs := make([]Doc, n)
	for i := range docs {
		docs[i].Name = fmt.Sprintf("%s %d", path, i)
	}
	return docs
}

func pointersTo(docs []Doc) []*Doc {
	pointers := make([]*Doc, len(docs))
	for i := range docs {
		pointers[i] = &docs[i]
	}
	return pointers
}

// ofMaps returns the docs of maps after their creation.
func ofMaps(maps ...map[string]any) (docs []Doc) {
	for _, m := range maps {
		d := Doc{Name: m["name"].(string)}
		d.ID, _ = m["id"].(sqltype.ID)
		d.Number, _ = m["number"].(int64)
		docs = append(docs, d)
	}
	return docs
}

// createPaths are the ways into the table. Each returns what it wrote, as its caller has it.
var createPaths = []struct {
	name   string
	create func(db *gorm.DB, docs []Doc) ([]Doc, error)
}{
	{"struct", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		return docs[:1], db.Create(&docs[0]).Error
	}},
	{"slice", func(db *gorm.DB, docs []Doc) ([]Doc, error) { return docs, db.Create(&docs).Error }},
	{"map", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		m := map[string]any{"name": docs[0].Name}
		err := db.Model(&Doc{}).Create(m).Error
		return ofMaps(m), err
	}},
	{"maps", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		maps := []map[string]any{{"name": docs[0].Name}, {"name": docs[1].Name}}
		err := db.Model(&Doc{}).Create(&maps).Error
		return ofMaps(maps...), err
	}},
	{"batches", func(db *gorm.DB, docs []Doc) ([]Doc, error) { return docs, db.CreateInBatches(&docs, 2).Error }},
	{"Save", func(db *gorm.DB, docs []Doc) ([]Doc, error) { return docs[:1], db.Save(&docs[0]).Error }},
	{"FirstOrCreate", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		name := docs[0].Name
		docs[0].Name = ""
		if err := db.Where(Doc{Name: name}).FirstOrCreate(&docs[0]).Error; err != nil {
			return nil, err
		}
		again := Doc{}
		err := db.Where(Doc{Name: name}).FirstOrCreate(&again).Error
		if again.ID != docs[0].ID {
			err = fmt.Errorf("FirstOrCreate created %d and then %d: %w", docs[0].ID, again.ID, err)
		}
		return docs[:1], err
	}},
	{"PrepareStmt", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		tx := db.Session(&gorm.Session{PrepareStmt: true})
		for i := range docs {
			if err := tx.Create(&docs[i]).Error; err != nil {
				return nil, err
			}
		}
		return docs, nil
	}},
	{"Select", func(db *gorm.DB, docs []Doc) ([]Doc, error) { return docs, db.Select("Name").Create(&docs).Error }},
	{"DO NOTHING", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		return docs, db.Clauses(clause.OnConflict{DoNothing: true}).Create(&docs).Error
	}},
	{"DO UPDATE", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		return docs, db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&docs).Error
	}},
	{"generics", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		return docs[:1], gorm.G[Doc](db).Create(context.Background(), &docs[0])
	}},
	{"generics, Set", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		if err := gorm.G[Doc](db).Set(clause.Assignment{Column: clause.Column{Name: "name"}, Value: docs[0].Name}).Create(context.Background()); err != nil {
			return nil, err
		}
		d, err := gorm.G[Doc](db).Where("name = ?", docs[0].Name).First(context.Background())
		return []Doc{d}, err
	}},
	{"nested transactions", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		lost := docsOf("lost", 2)
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&docs[0]).Error; err != nil {
				return err
			}
			rollback := errors.New("only the inner one")
			if err := tx.Transaction(func(tx *gorm.DB) error {
				return errors.Join(tx.Create(&lost).Error, rollback)
			}); !errors.Is(err, rollback) || errors.Is(err, gorm.ErrInvalidTransaction) {
				return err
			}
			return tx.Transaction(func(tx *gorm.DB) error { return tx.Create(&docs[1]).Error })
		})
		return docs[:2], err
	}},
	{"savepoints", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		tx := db.Begin()
		defer tx.Rollback()
		err := tx.Create(&docs[0]).Error
		lost := docsOf("lost", 1)
		err = errors.Join(err, tx.SavePoint("here").Error, tx.Create(&lost).Error, tx.RollbackTo("here").Error)
		err = errors.Join(err, tx.Create(&lost).Error, tx.RollbackTo("here").Error) // the key is set, and is kept
		return docs[:1], errors.Join(err, tx.Commit().Error)
	}},
	{"gorm.io/gen", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		return docs, query.Use(db).Doc.Create(pointersTo(docs)...)
	}},
	{"gorm.io/gen in a transaction", func(db *gorm.DB, docs []Doc) ([]Doc, error) {
		return docs, query.Use(db).Transaction(func(tx *query.Query) error { return tx.Doc.Create(pointersTo(docs)...) })
	}},
}

// Every way of creating a row fills its key and its public number, and the caller gets the same
// values as the table.
func TestEveryCreatePath(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		gen := databases.Generator(t, 1)
		resolver := func() gorm.Plugin {
			return dbresolver.Register(dbresolver.Config{Replicas: []gorm.Dialector{d.Open(t)}})
		}
		p := fillPlugin(gen, model.All()...)
		migrating := databases.Handle(t, d, p)
		if err := migrating.AutoMigrate(model.All()...); err != nil {
			t.Fatal(err)
		}
		handles := map[string]*gorm.DB{
			"plain":           migrating,
			"resolver before": databases.Handle(t, d, resolver(), p), // one plugin value, three handles
			"resolver after":  databases.Handle(t, d, p, resolver()),
		}
		want := map[sqltype.ID]Doc{}
		for handle, db := range handles {
			for _, path := range createPaths {
				t.Run(handle+"/"+path.name, func(t *testing.T) {
					docs, err := path.create(db, docsOf(handle+": "+path.name, 3))
					if err != nil {
						t.Errorf("%s: %s: %v", handle, path.name, err)
						return
					}
					for _, doc := range docs {
						if _, twice := want[doc.ID]; twice || doc.ID == 0 || doc.Number == 0 {
							t.Errorf("%s: %s: the key is %d and the number %d", handle, path.name, doc.ID, doc.Number)
						}
						want[doc.ID] = doc
					}
				})
			}
		}
		var stored []Doc
		if err := migrating.Find(&stored).Error; err != nil {
			t.Fatal(err)
		}
		if len(stored) != len(want) {
			t.Errorf("%d rows are stored, %d were created", len(stored), len(want))
		}
		for _, s := range stored {
			if w := want[s.ID]; w.Name != s.Name || w.Number != s.Number {
				t.Errorf("the row %d is %q with the number %d, its caller has %q and %d", s.ID, s.Name, s.Number, w.Name, w.Number)
			}
		}
	})
}
