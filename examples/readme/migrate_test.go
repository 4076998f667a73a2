package readme

import (
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// docs/migrate.md says that github.com/bwmarrin/snowflake has the default layout. Its v0.3.0 made this id as
// node 37. A lease in that layout can be confined to a datacenter.
func TestBwmarrin(t *testing.T) {
	const id = 2127201485170298880
	p, err := core.Twitter().Decode(id)
	if err != nil || p.Datacenter != 1 || p.Worker != 5 || !p.Time.Equal(time.UnixMilli(1795999330214)) {
		t.Errorf("%+v, %v", p, err)
	}
	two := int64(2)
	gen, err := worker.Open(t.Context(), memstore.New(memstore.Config{}), worker.Config{Datacenter: &two})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gen.Close(t.Context()) }()
	next, err := gen.Next(t.Context())
	if p, wrong := core.Twitter().Decode(next); err != nil || wrong != nil || p.Datacenter != 2 {
		t.Errorf("%+v, %v, %v", p, err, wrong)
	}
}
