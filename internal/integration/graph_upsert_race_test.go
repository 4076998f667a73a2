package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
)

// Writers that meet at the same users: each user is there once, and every visit
// refers to one that is there.
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
						err := gormplugin.Create(context.Background(), base, v)
						if err == nil {
							break
						}
						if text := err.Error(); !strings.Contains(text, "eadlock") && !strings.Contains(text, "locked") { // those are to be tried again
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

// The row was committed by another after this transaction had its first look at
// the table: it is found all the same.
func TestUpsertInOldTransaction(t *testing.T) {
	onUsers(t, func(t *testing.T, db *gorm.DB) {
		if db.Name() == "sqlite" {
			return // it has one writer at a time
		}
		for i, on := range []clause.OnConflict{{DoNothing: true}, {Columns: []clause.Column{{Name: "email"}}, DoUpdates: clause.AssignmentColumns([]string{"visits"})}} {
			email := fmt.Sprintf("%d@x", i)
			err := db.Transaction(func(tx *gorm.DB) error {
				var n int64
				if err := tx.Model(&User{}).Count(&n).Error; err != nil {
					return err
				}
				other := &User{Email: email}
				if err := db.Create(other).Error; err != nil {
					return err
				}
				u := &User{Email: email, Devices: []Device{{Name: "d"}}}
				if err := gormplugin.Create(t.Context(), tx.Clauses(on), u); err != nil {
					return err
				}
				if u.ID != other.ID || u.Devices[0].UserID != other.ID {
					t.Errorf("the key is %d, want %d", u.ID, other.ID)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}
