package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/describe"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

const whoAbout = `Say which process made an id: the owner of the claim under which its worker ID
was leased at the id's time. By default, an owner is a host name and a process
ID.

A database knows the present claim of each worker ID, and notes the past ones in
a table, snow_claim, for 90 days. Without that table, which is optional, only
ids of present claims are found.`

func (a *app) whoCommand() *cobra.Command {
	p, from, layout := &storeFlags{}, describe.Auto, core.Layout{}
	cmd := a.command("who ID --dsn DSN", "say which process made an id", whoAbout,
		"  snowkey who 1996573624012345677 --dsn postgres://localhost/app\n"+
			"  snowkey who 1996573624012345677 --dsn env:DATABASE_URL --namespace orders \\\n    --json",
		arguments(1, 1, "one id"), func(cmd *cobra.Command, args []string) error {
			id, _, err := describe.Parse(args[0], from, layout.Unsigned)
			if err != nil {
				return invalidValue("ID", args[0], suggestFrom(err))
			}
			return a.who(cmd.Context(), p, layout, id)
		})
	p.add(cmd, "dsn", "database with the leases")
	fromFlag(cmd, &from)
	a.jsonFlag(cmd, "one object")
	addLayout(cmd, &layout)
	return cmd
}

// whoInfo is the JSON of who.
type whoInfo struct {
	ID           string `json:"id"`
	Time         string `json:"time"`
	WorkerID     int64  `json:"worker_id"`
	Namespace    string `json:"namespace"`
	Owner        string `json:"owner"`
	FencingToken int64  `json:"fencing_token"`
	Claimed      string `json:"claimed,omitempty"` // by the database's clock, if it was noted
	Start        string `json:"start"`             // its ids begin at
	End          string `json:"end,omitempty"`     // and end before, if that is known
	Present      bool   `json:"present"`           // no later claim of the worker ID is known
}

func (a *app) who(ctx context.Context, p *storeFlags, l core.Layout, id int64) error {
	parts, err := l.Decode(id)
	if err != nil {
		return describe.Outside(err)
	}
	target, opened, st, err := a.state(ctx, p)
	if err != nil {
		return err
	}
	defer target.Close()
	store, ok := opened.(*sqlstore.Store)
	have, _, one := doctor.CutDatacenter(st.Namespace.Layout)
	worker := parts.Datacenter<<l.WorkerBits | parts.Worker
	if one {
		worker = parts.Worker
	}
	switch {
	case !ok:
		return fmt.Errorf("%s: only a database notes claims", target.Name)
	case st.Missing:
		return fmt.Errorf("%s has no namespace %q%s", target.Name, p.namespace, otherNamespaces(ctx, target))
	case have != driver.Fingerprint(l):
		return fmt.Errorf("namespace %q is for %s, and the flags are for %s: give the layout's flags, or another --namespace",
			p.namespace, have, driver.Fingerprint(l))
	}
	claim, err := store.ClaimAt(ctx, p.namespace, worker, parts.Time)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", target.Name, err)
	case claim == nil:
		return fmt.Errorf("no claim of worker ID %d in namespace %q is known for %s: "+
			"the id is of another namespace, older than the claims that are kept, or no id of a lease", worker, p.namespace, timetext.Format(parts.Time))
	}
	info := whoInfo{
		ID: describe.Decimal.Text(id, l.Unsigned), Time: timetext.Format(parts.Time), WorkerID: worker,
		Namespace: p.namespace, Owner: claim.Owner, FencingToken: claim.FencingToken, Claimed: formatIfSet(claim.Claimed),
		Start: timetext.Format(claim.Start), End: formatIfSet(claim.End), Present: claim.Present,
	}
	if a.json {
		return a.object(info)
	}
	until := info.End
	switch {
	case until == "":
		until = "an end that was not noted: a later claim may have made the id"
	case claim.Present:
		until += ", the fence of the present claim"
	}
	a.label("id", info.ID)
	a.label("time", info.Time)
	a.label("worker ID", fmt.Sprintf("%d of namespace %q", worker, p.namespace))
	a.label("owner", dsn.Printable(claim.Owner))
	a.label("claim", fmt.Sprintf("fencing token %d", claim.FencingToken))
	if info.Claimed != "" {
		a.label("claimed", info.Claimed)
	}
	a.label("ids from", info.Start)
	a.label("until", until)
	return nil
}

// formatIfSet returns "" for the zero time.
func formatIfSet(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return timetext.Format(t)
}
