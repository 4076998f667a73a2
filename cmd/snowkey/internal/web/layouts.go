package web

import (
	"net/http"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

type layoutsBody struct {
	Layouts []layoutBody `json:"layouts"`
}

// layouts answers with every preset, or with the one layout that is asked for.
func (s *server) layouts(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := newParams(r)
	l, given := p.layout()
	if err := p.end(); err != nil {
		return nil, err
	}
	now := time.Now()
	if given {
		return layoutsBody{[]layoutBody{describe(l, now)}}, nil
	}
	var body layoutsBody
	for _, preset := range core.Presets() {
		b := describe(preset.Layout, now)
		b.Preset, b.About = preset.Name, preset.Description
		body.Layouts = append(body.Layouts, b)
	}
	return body, nil
}
