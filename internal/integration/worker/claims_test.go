package worker

import (
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// madeBy leases a worker ID from the store, and returns it with the time of an id.
func madeBy(t *testing.T, store *sqlstore.Store, owner string) (workerID int64, at time.Time) {
	t.Helper()
	gen, err := worker.Open(t.Context(), store, worker.Config{Owner: owner, Preferred: new(int64), RequirePreferred: true})
	must(t, err)
	id, err := gen.Next(t.Context())
	must(t, err)
	must(t, gen.Close(t.Context()))
	parts, err := core.Twitter().Decode(id)
	must(t, err)
	return parts.Worker, parts.Time
}

// The store finds the owner of each id, also of past claims, and of one whose note was lost. Old notes are
// deleted.
func TestPastClaims(t *testing.T) {
	onServers(t, pastClaims)
	t.Run("sqlite", func(t *testing.T) { pastClaims(t, newSQLite(t)) })
}

func pastClaims(t *testing.T, e engine) {
	db, store := open(t, e.driver, e.plain), e.store(t)
	owners := []string{"first 'host'", "lost", "third", "present"}
	times := make([]time.Time, len(owners))
	for i, owner := range owners {
		var id int64
		if id, times[i] = madeBy(t, store, owner); id != 0 {
			t.Fatalf("%s: worker ID %d", owner, id)
		}
		switch owner {
		case "lost": // as after a crash between the claim and the note
			mustExec(t, db, "DELETE FROM snow_claim WHERE owner = 'lost'",
				"INSERT INTO snow_claim SELECT namespace, worker_id, 1000, 1000, 2000, 'old', 1000 FROM snow_lease WHERE worker_id = 0")
		}
		time.Sleep(2 * time.Millisecond)
	}
	for i, owner := range owners {
		claim, err := store.ClaimAt(t.Context(), "default", 0, times[i])
		if err != nil || claim == nil || claim.Owner != owner || claim.Present != (owner == "present") ||
			claim.Claimed.IsZero() != (owner == "lost") || claim.End.IsZero() || claim.Start.After(times[i]) || !claim.End.After(times[i]) {
			t.Errorf("%s at %v: %+v, %v", owner, times[i], claim, err)
		}
	}
	mustExec(t, db, "DELETE FROM snow_claim WHERE owner = 'present'")
	if claim, err := store.ClaimAt(t.Context(), "default", 0, times[3]); err != nil || claim == nil || claim.Owner != "present" || !claim.Claimed.IsZero() {
		t.Errorf("%+v, %v: it must not have the time of the claim before", claim, err)
	}
	old := time.UnixMilli(1500)
	for tries := 0; ; tries++ {
		claim, err := store.ClaimAt(t.Context(), "default", 0, old)
		must(t, err)
		if claim == nil {
			break
		} else if claim.Owner != "old" || tries == 300 {
			t.Fatalf("%+v after %d claims", claim, tries)
		}
		madeBy(t, store, "one more")
	}
	for _, at := range []time.Time{old, times[0].Add(-time.Hour), time.Now().Add(time.Hour)} {
		if claim, err := store.ClaimAt(t.Context(), "default", 0, at); claim != nil || err != nil {
			t.Errorf("%v: %+v, %v", at, claim, err)
		}
	}
	for _, other := range []struct {
		namespace string
		worker    int64
	}{{"other", 0}, {"default", 1}} {
		if claim, err := store.ClaimAt(t.Context(), other.namespace, other.worker, times[3]); claim != nil || err != nil {
			t.Errorf("%v: %+v, %v", other, claim, err)
		}
	}
}

// A claim succeeds whatever happens to the table of claims, and in time.
func TestClaimWithoutNote(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		db, store := e.open(t), e.store(t)
		_, first := madeBy(t, store, "first")
		check := func(t *testing.T, store *sqlstore.Store, owner string) {
			t.Helper()
			begin := time.Now()
			_, at := madeBy(t, store, owner)
			if took := time.Since(begin); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
			st, err := store.List(t.Context(), "default")
			if err != nil || len(st.Records) != 1 || st.Records[0].Owner != owner || st.Records[0].Fence <= at.UnixMilli() {
				t.Errorf("%+v, %v", st, err)
			}
		}
		if e.dialect == ddl.Postgres {
			tx, err := db.BeginTx(t.Context(), nil)
			must(t, err)
			if _, err := tx.Exec("LOCK TABLE snow_claim"); err != nil {
				t.Fatal(err)
			}
			gen, err := worker.Open(t.Context(), store, worker.Config{Owner: "while it is locked", Preferred: new(int64), RequirePreferred: true})
			must(t, err)
			must(t, gen.Close(t.Context()))
			must(t, tx.Rollback())
		}
		mustExec(t, db, "ALTER TABLE snow_claim RENAME TO snow_old")
		check(t, store, "dropped")
		mustExec(t, db, "CREATE TABLE snow_claim (other INT)")
		check(t, store, "another table")
		check(t, e.store(t), "another table, new store")
		mustExec(t, db, "DROP TABLE snow_claim")
		check(t, e.store(t), "no table, new store")
		if claim, err := e.store(t).ClaimAt(t.Context(), "default", 0, first); claim != nil || err != nil {
			t.Errorf("%+v, %v; nothing is known", claim, err)
		}
		if _, err := db.Exec("SELECT 1 FROM snow_claim"); err == nil {
			t.Error("a dropped table has come back")
		}
	})
}
