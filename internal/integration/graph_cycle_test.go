package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func updates(sent []string) (n int) {
	for _, s := range sent {
		if strings.HasPrefix(s, "UPDATE") {
			n++
		}
	}
	return n
}

// One of the references of a circle is set by an UPDATE at the end.
func TestGraphBreaksCycles(t *testing.T) {
	firm := func(name string) *Firm {
		f := &Firm{Name: name, Clerks: []*Clerk{{Name: name + " ann"}, {Name: name + " bob"}}}
		f.Head = f.Clerks[1]
		return f
	}
	cases := map[string]struct {
		build   func() []*Firm
		updates int
	}{
		"its head is a clerk": {func() []*Firm { return []*Firm{firm("a")} }, 1},
		"of each of many": {func() (firms []*Firm) {
			for i := range 20 {
				firms = append(firms, firm(fmt.Sprint(i)))
			}
			return firms
		}, 20},
		"from the clerk": {func() []*Firm {
			f := &Firm{Name: "a"}
			f.Head = &Clerk{Name: "a ann", Firm: f}
			return []*Firm{f}
		}, 1},
		"across firms": {func() []*Firm {
			a, b := &Firm{Name: "a"}, &Firm{Name: "b"}
			a.Head, b.Head = &Clerk{Name: "ann", Firm: b}, &Clerk{Name: "bob", Firm: a}
			return []*Firm{a}
		}, 1},
		"mentors in a ring": {func() []*Firm {
			f := &Firm{Name: "a"}
			for i := range 30 {
				f.Clerks = append(f.Clerks, &Clerk{Name: fmt.Sprint(i)})
				if i > 0 {
					f.Clerks[i].Mentor = f.Clerks[i-1]
				}
			}
			f.Clerks[0].Mentor = f.Clerks[29]
			return []*Firm{f}
		}, 1},
		"mentor and pupil at once": {func() []*Firm {
			f := &Firm{Name: "a", Clerks: []*Clerk{{Name: "ann"}, {Name: "bob"}, {Name: "cid"}}}
			f.Clerks[0].Pupils = []*Clerk{f.Clerks[1], f.Clerks[2]}
			f.Clerks[0].Mentor = f.Clerks[1]
			f.Clerks[1].Mentor = f.Clerks[0]
			return []*Firm{f}
		}, 1},
		"its own mentor": {func() []*Firm {
			f := &Firm{Name: "a", Clerks: []*Clerk{{Name: "ann"}}}
			f.Clerks[0].Mentor = f.Clerks[0]
			return []*Firm{f}
		}, 0},
	}
	onCycles(t, func(t *testing.T, db *gorm.DB) {
		seen, s := spyOn(db)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				for _, batch := range []int{0, 1} {
					what := fmt.Sprintf("%s, batches of %d", name, batch)
					s.reset()
					firms := c.build()
					if _, err := graph.CreateWith(t.Context(), seen, firms, graph.Config{BatchSize: batch}); err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					sent := s.reset()
					if n := updates(sent); n != c.updates || n > 0 && !strings.HasPrefix(sent[len(sent)-2], "UPDATE") {
						t.Errorf("%s: %d updates, want %d, in %v", what, n, c.updates, verbs(sent))
					}
					checkGraph(t, db, firms)
					sameInDatabase(t, db, what, firms)
					for _, sql := range []string{"UPDATE firms SET head_id = NULL", "UPDATE clerks SET mentor_id = NULL", "DELETE FROM clerks", "DELETE FROM firms"} {
						if err := db.Exec(sql).Error; err != nil {
							t.Fatal(err)
						}
					}
				}
			})
		}
	})
}

// sameInDatabase compares the references in the structs with those in the tables.
func sameInDatabase(t *testing.T, db *gorm.DB, what string, firms []*Firm) {
	t.Helper()
	met := map[any]bool{}
	var clerk func(c *Clerk)
	var firm func(f *Firm)
	clerk = func(c *Clerk) {
		if c == nil || met[c.ID] {
			return
		}
		met[c.ID] = true
		var back Clerk
		if err := db.Take(&back, c.ID).Error; err != nil || back.FirmID != c.FirmID || back.MentorID != c.MentorID || c.Mentor != nil && back.MentorID.Key != c.Mentor.ID {
			t.Errorf("%s: %+v, %v, want %+v", what, back, err, c)
		}
		firm(c.Firm)
		clerk(c.Mentor)
	}
	firm = func(f *Firm) {
		if f == nil || met[f.ID] {
			return
		}
		met[f.ID] = true
		var back Firm
		if err := db.Take(&back, f.ID).Error; err != nil || (back.HeadID == nil) != (f.Head == nil) || f.Head != nil && *back.HeadID != f.Head.ID {
			t.Errorf("%s: %+v, %v, want %+v", what, back, err, f)
		}
		clerk(f.Head)
		for _, c := range f.Clerks {
			clerk(c)
		}
	}
	for _, f := range firms {
		firm(f)
	}
}

// Keys of two columns, and those that the database makes.
func TestGraphBreaksCyclesOfOtherKeys(t *testing.T) {
	onCycles(t, func(t *testing.T, db *gorm.DB) {
		cells := []*Cell{{Sheet: 1}, {Sheet: 1}, {Sheet: 2}}
		for i, c := range cells {
			c.Next = cells[(i+1)%3]
		}
		if err := graph.Create(t.Context(), db, cells); err != nil {
			t.Fatal(err)
		}
		for i, c := range cells {
			var back Cell
			if err := db.Take(&back, "sheet = ? AND id = ?", c.Sheet, c.ID).Error; err != nil || back.NextID == nil || *back.NextID != cells[(i+1)%3].ID || *back.NextSheet != cells[(i+1)%3].Sheet || *c.NextID != *back.NextID {
				t.Errorf("%d: %+v, %v", i, back, err)
			}
		}

		links := []*Link{{Name: "a"}, {Name: "b"}, {Name: "own"}}
		links[0].Next, links[1].Next, links[2].Next = links[1], links[0], links[2]
		if err := graph.Create(t.Context(), db, links); err != nil {
			t.Fatal(err)
		}
		for i, want := range []*Link{links[1], links[0], links[2]} {
			var back Link
			if err := db.Take(&back, links[i].ID).Error; err != nil || back.Name != links[i].Name || back.NextID == nil || *back.NextID != want.ID || *links[i].NextID != want.ID {
				t.Errorf("%d: %+v, %v, want %d", i, back, err, want.ID)
			}
		}

		hen := &Hen{Egg: &Egg{}}
		hen.Egg.Hen = hen
		var cycle *graph.CycleError
		if err := graph.Create(t.Context(), db, hen); !errors.As(err, &cycle) || strings.Join(cycle.Tables, " ") != "hens eggs hens" || hen.ID != 0 || hen.EggID != 0 || hen.Egg.HenID != nil {
			t.Errorf("%v, %+v", err, hen)
		}
	})
}

// Hooks see the reference before and after, and a failure leaves nothing of it.
func TestGraphCyclesAndHooks(t *testing.T) {
	onCycles(t, func(t *testing.T, db *gorm.DB) {
		seen, s := spyOn(db)
		build := func() *Twin {
			a, b := &Twin{Name: "a"}, &Twin{Name: "b"}
			a.Other, b.Other = b, a
			return a
		}
		var calls []string
		ctx := contextWith(t.Context(), &calls)
		if err := graph.Create(ctx, seen, build()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(calls)
		if want := []string{"after, other true a", "after, other true b", "before, other true a", "before, other true b"}; !slices.Equal(calls, want) {
			t.Errorf("the hooks saw %v, want %v", calls, want)
		}
		empty := func() {
			if err := errors.Join(db.Exec("UPDATE twins SET other_id = NULL").Error, db.Exec("DELETE FROM twins").Error); err != nil {
				t.Fatal(err)
			}
		}
		for fail := 0; ; fail++ {
			empty()
			s.reset()
			s.at = func(n int, what string) error {
				if n == fail && what != "ROLLBACK" && what != "COMMIT" {
					return errInjected
				}
				return nil
			}
			a := build()
			err := graph.Create(ctx, seen, a)
			sent := s.reset()
			if err == nil {
				if updates(sent) != 1 || fail < 6 {
					t.Errorf("it succeeded with a fault at %d of %v", fail, verbs(sent))
				}
				break
			}
			if a.ID != 0 || a.OtherID != nil || a.Other.ID != 0 || a.Other.OtherID != nil {
				t.Errorf("%d: keys are left: %+v, %+v", fail, a, a.Other)
			}
			var n int64
			if db.Model(&Twin{}).Count(&n); n != 0 {
				t.Errorf("%d: %d rows", fail, n)
			}
			lost := false
			s.at = func(n int, what string) error {
				if n == fail && what != "ROLLBACK" && !strings.HasPrefix(what, "SELECT") {
					lost = true
					return lostTo(db)
				}
				return nil
			}
			if err := graph.Create(ctx, seen, a); err != nil || *a.OtherID != a.Other.ID || *a.Other.OtherID != a.ID {
				t.Errorf("%d, lost %v: %v, %+v", fail, lost, err, a)
			}
			s.reset()
		}
	})
}

// A row that is there already is left as it is, and a retry after an unknown outcome is not.
func TestGraphCyclesOfExistingRows(t *testing.T) {
	onCycles(t, func(t *testing.T, db *gorm.DB) {
		build := func(name string) *Firm {
			f := &Firm{Name: name, Clerks: []*Clerk{{Name: "ann"}}}
			f.Head = f.Clerks[0]
			return f
		}
		old := build("old")
		if err := graph.Create(t.Context(), db, old); err != nil {
			t.Fatal(err)
		}
		headOf := func(id sqltype.ID) sqltype.Key[Clerk] {
			var f Firm
			if err := db.Take(&f, id).Error; err != nil {
				t.Fatal(err)
			}
			if f.HeadID == nil {
				return 0
			}
			return *f.HeadID
		}
		// The firm that a clerk belongs to is found by its name: it keeps its head, also if it has none.
		for _, head := range []*sqltype.Key[Clerk]{old.HeadID, nil} {
			if err := db.Model(&Firm{}).Where("id = ?", old.ID).Update("head_id", head).Error; err != nil {
				t.Fatal(err)
			}
			before := headOf(old.ID)
			c := &Clerk{Name: "new", Firm: &Firm{Name: "old"}}
			c.Firm.Head = c
			if err := graph.Create(t.Context(), db, c); err != nil {
				t.Fatal(err)
			}
			if c.FirmID != old.ID || c.Firm.ID != old.ID || headOf(old.ID) != before {
				t.Errorf("firm %d of %d, its head is %d, it was %d", c.FirmID, old.ID, headOf(old.ID), before)
			}
		}
		// COMMIT was sent, or was not: what is created again is complete, and nothing else changes.
		for _, committed := range []bool{true, false} {
			seen, s := spyOn(db)
			lost := errors.New("connection reset by peer")
			if committed {
				s.lost = func() error { return lost }
			} else {
				s.at = func(_ int, what string) error {
					if what == "COMMIT" {
						return lost
					}
					return nil
				}
			}
			f := build(fmt.Sprint("committed ", committed))
			if err := graph.Create(t.Context(), seen, f); !errors.Is(err, graph.ErrOutcomeUnknown) {
				t.Fatal(err)
			}
			if err := graph.Create(t.Context(), db.Clauses(clause.OnConflict{DoNothing: true}), f); err != nil {
				t.Fatal(err)
			}
			if headOf(f.ID) != f.Head.ID {
				t.Errorf("committed %v: the head is %d, want %d", committed, headOf(f.ID), f.Head.ID)
			}
		}
		// If Omit leaves it out, it is not set.
		f := build("omitted")
		if err := graph.Create(t.Context(), db.Omit("HeadID"), f); err != nil || headOf(f.ID) != 0 {
			t.Errorf("the head is %d, %v", headOf(f.ID), err)
		}
		// A dry run shows the UPDATE.
		result, err := graph.CreateWith(t.Context(), db.Session(&gorm.Session{DryRun: true}), build("dry"), graph.Config{})
		if n := len(result.Statements); err != nil || n != 3 || !strings.HasPrefix(result.Statements[2].SQL, "UPDATE") || len(result.Statements[2].Vars) != 2 {
			t.Errorf("%+v, %v", result.Statements, err)
		}
	})
}

// Random graphs with cycles of all kinds.
func TestGraphCyclesAtRandom(t *testing.T) {
	onCycles(t, func(t *testing.T, db *gorm.DB) {
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 1))
			firms, clerks := make([]*Firm, 1+r.IntN(4)), make([]*Clerk, r.IntN(12))
			for i := range clerks {
				clerks[i] = &Clerk{Name: fmt.Sprint(i)}
			}
			for i := range firms {
				firms[i] = &Firm{Name: fmt.Sprint(seed, " ", i)}
				if len(clerks) > 0 && r.IntN(3) > 0 {
					firms[i].Head = clerks[r.IntN(len(clerks))]
				}
			}
			for _, c := range clerks {
				f := firms[r.IntN(len(firms))]
				if r.IntN(2) == 0 {
					f.Clerks = append(f.Clerks, c)
				} else {
					c.Firm = f
				}
				if m := clerks[r.IntN(len(clerks))]; r.IntN(2) == 0 {
					c.Mentor = m
				} else if r.IntN(2) == 0 && m.Mentor == nil {
					c.Pupils, m.Mentor = append(c.Pupils, m), c
				}
			}
			var met []*Clerk // a pupil may have got another mentor since, which cannot both be
			for _, c := range clerks {
				c.Pupils = slices.DeleteFunc(c.Pupils, func(p *Clerk) bool { return p.Mentor != c || slices.Contains(met, p) })
				met = append(met, c.Pupils...)
			}
			all := []any{firms, clerks}
			if r.IntN(2) == 0 {
				slices.Reverse(all)
			}
			what := fmt.Sprint("seed ", seed)
			if _, err := graph.CreateWith(t.Context(), db, all, graph.Config{BatchSize: 1 + r.IntN(5)}); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			checkGraph(t, db, firms)
			checkGraph(t, db, clerks)
			sameInDatabase(t, db, what, firms)
			for _, c := range clerks {
				var back Clerk
				if err := db.Take(&back, c.ID).Error; err != nil || back.MentorID.Key != c.MentorID.Key || (c.Mentor != nil) != back.MentorID.Valid || back.FirmID != c.FirmID || c.Name != back.Name {
					t.Errorf("%s: %+v, %v, want %+v", what, back, err, c)
				}
			}
			twins := make([]*Twin, 1+r.IntN(9)) // they have hooks, and each refers to one
			for i := range twins {
				twins[i] = &Twin{Name: fmt.Sprint(i)}
			}
			for _, w := range twins {
				w.Other = twins[r.IntN(len(twins))]
			}
			var calls []string
			if _, err := graph.CreateWith(contextWith(t.Context(), &calls), db, twins[:1+r.IntN(len(twins))], graph.Config{BatchSize: 1 + r.IntN(5)}); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if len(calls)%2 != 0 || slices.ContainsFunc(calls, func(s string) bool { return !strings.Contains(s, "true") || strings.Contains(s, "WITHOUT") }) {
				t.Errorf("%s: the hooks saw %v", what, calls)
			}
			var n int64
			if db.Model(&Clerk{}).Count(&n); n != int64(len(clerks)) {
				t.Errorf("%s: %d clerks, want %d", what, n, len(clerks))
			}
			for _, sql := range []string{"UPDATE firms SET head_id = NULL", "UPDATE clerks SET mentor_id = NULL", "DELETE FROM clerks", "DELETE FROM firms", "UPDATE twins SET other_id = NULL", "DELETE FROM twins"} {
				if err := db.Exec(sql).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
