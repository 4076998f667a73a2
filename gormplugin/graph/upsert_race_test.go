package graph_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
)

// Writers create the same users: each user exists once, and every visit refers to one.
func TestUpsertConcurrently(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		const writers, each = 4, 10
		base := db.Session(&gorm.Session{})
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					v := []*Visit{
						{Name: fmt.Sprint(w), User: &User{Email: fmt.Sprintf("%d@x", i%3)}, Tags: []Keyword{{Word: fmt.Sprint("w", i%2)}}},
						{Name: fmt.Sprint(w), User: &User{Email: fmt.Sprintf("%d@x", (i+1)%3)}},
					}
					for {
						err := graph.Create(context.Background(), base, v)
						if err == nil {
							break
						}
						if text := err.Error(); !strings.Contains(text, "eadlock") && !strings.Contains(text, "locked") && !strings.Contains(text, "try restarting") { // those are to be tried again
							t.Error(err)
							return
						}
						if v[0].ID != 0 || v[0].User.ID != 0 || v[0].UserID != 0 {
							t.Errorf("keys are left: %+v", v[0])
						}
					}
					if v[0].User.ID == 0 || v[0].UserID != v[0].User.ID {
						t.Errorf("visit %+v of %+v", v[0], v[0].User)
					}
				}
			})
		}
		wg.Wait()
		var users, visits, words, joined int64
		db.Model(&User{}).Count(&users)
		db.Table("visits").Joins("JOIN users ON users.id = visits.user_id").Count(&visits)
		db.Model(&Keyword{}).Count(&words)
		db.Table("visit_keywords").Joins("JOIN keywords ON keywords.id = visit_keywords.keyword_id").Count(&joined)
		if users != 3 || visits != 2*writers*each || words != 2 || joined != writers*each {
			t.Errorf("%d users, %d visits, %d words, %d joined", users, visits, words, joined)
		}
	})
}

// A row that another transaction committed after the first read of this one is still found.
// With innodb_snapshot_isolation, the default since 11.6, MariaDB rolls back the transaction
// instead: nothing is written, and a second run succeeds.
func TestUpsertInOldTransaction(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		if db.Name() == "sqlite" {
			return // it has one writer at a time
		}
		for _, refused := range []bool{false, true} {
			for i, on := range []clause.OnConflict{{DoNothing: true}, {Columns: []clause.Column{{Name: "email"}}, DoUpdates: clause.AssignmentColumns([]string{"visits"})}} {
				err := db.Connection(func(conn *gorm.DB) error {
					conn = conn.Session(&gorm.Session{NewDB: true})
					if err := conn.Exec(fmt.Sprintf("SET SESSION innodb_snapshot_isolation = %t", refused)).Error; err != nil && refused {
						return nil // not a MariaDB
					}
					other, u := &User{Email: fmt.Sprintf("%d%t@x", i, refused)}, &User{Email: fmt.Sprintf("%d%t@x", i, refused), Devices: []Device{{Name: "d"}}}
					err := conn.Transaction(func(tx *gorm.DB) error { return inOldTransaction(t, db, tx.Clauses(on), other, u) })
					if refused {
						if err == nil || !strings.Contains(err.Error(), "Error 1020") || strings.Contains(err.Error(), "rollback") {
							t.Errorf("%v, want the server's error 1020", err)
						}
						if u.ID != 0 || u.Devices[0].ID != 0 || u.Devices[0].UserID != 0 {
							t.Errorf("keys are left: %+v", u)
						}
						err = conn.Transaction(func(tx *gorm.DB) error { return inOldTransaction(t, db, tx.Clauses(on), other, u) })
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// inOldTransaction has the row of u made by other, unless it is there, between the first
// look of tx and its upsert.
func inOldTransaction(t *testing.T, db, tx *gorm.DB, other, u *User) error {
	t.Helper()
	if err := tx.Session(&gorm.Session{NewDB: true}).Model(&User{}).Count(new(int64)).Error; err != nil {
		return err
	}
	if other.ID == 0 {
		if err := db.Create(other).Error; err != nil {
			return err
		}
	}
	if err := graph.Create(t.Context(), tx, u); err != nil {
		return err
	}
	if u.ID != other.ID || u.Devices[0].UserID != other.ID {
		t.Errorf("the key is %d, want %d", u.ID, other.ID)
	}
	return nil
}
