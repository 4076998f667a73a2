package gormplugin

import (
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func fillPlugin(src sqltype.Source, models ...any) *gormplugin.Plugin {
	return gormplugin.New(gormplugin.Config{
		Source: src,
		Named:  map[string]sqltype.Source{"other": src},
		Models: models,
	})
}
