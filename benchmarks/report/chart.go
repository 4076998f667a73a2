package report

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// Picture is a chart as a file.
type Picture struct {
	File string // "next.svg"
	SVG  []byte
}

// Charts draws the charts for which there are figures. It uses no library, because none
// gives a picture a title and a description for screen readers, and colours that follow a
// dark page.
func Charts(all []*Series) ([]Picture, error) {
	var list []Picture
	for _, c := range charts() {
		svg, err := draw(c, all)
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", c.File, err)
		}
		if svg != nil {
			list = append(list, Picture{c.File + ".svg", svg})
		}
	}
	return list, nil
}

func draw(c chart, all []*Series) ([]byte, error) {
	groups := map[string][]*Series{}
	var names []string
	for _, s := range all {
		if s.Function != c.Function || s.Unit != c.Unit || !matches(s, c.Where) {
			continue
		}
		name := ""
		if c.Group != "" {
			name = s.Get(c.Group)
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], s)
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.SortFunc(names, natural)
	return page(c, names, groups)
}

func matches(s *Series, where map[string]string) bool {
	for k, v := range where {
		if s.Get(k) != v {
			return false
		}
	}
	return true
}

// Of the picture, in pixels.
const (
	width, left, right  = 760, 190, 90
	barHeight, barPitch = 14, 20
	headHeight          = 34
	groupHeight         = 24
)

type (
	bar struct {
		Class, Name, Figure string
		Y, Width, FigureX   int
	}
	label struct {
		Y    int
		Text string
	}
	line struct {
		X, Bottom int
		Text      string
	}
	drawing struct {
		Title, Description string
		Height             int
		Bars               []bar
		Labels             []label
		Lines              []line // at most one
	}
)

func page(c chart, names []string, groups map[string][]*Series) ([]byte, error) {
	d := drawing{Title: c.Title + ", less is better"}
	if strings.HasSuffix(c.Unit, "/s") {
		d.Title = c.Title + ", more is better"
	}
	var most float64
	for _, list := range groups {
		for _, s := range list {
			most = max(most, s.Median)
		}
	}
	if most == 0 {
		most = 1
	}
	var said []string
	y := headHeight
	for _, name := range names {
		list := groups[name]
		if name != "" {
			name = heading(c.Group, name)
			d.Labels = append(d.Labels, label{y + 16, name})
			y += groupHeight
		}
		slices.SortStableFunc(list, func(a, b *Series) int { return byRank(a.Pivot, b.Pivot) })
		for _, s := range list {
			w := int(s.Median / most * (width - left - right))
			if s.Pivot == c.Line {
				d.Lines = append(d.Lines, line{X: left + w, Text: s.Pivot + " " + number(s.Median)})
				said = append(said, s.Pivot+" "+number(s.Median))
				continue
			}
			class := [...]string{rankBase: "ours", rankOurs: "ours", rankRival: "rival", rankFloor: "floor"}[rank(s.Pivot)]
			d.Bars = append(d.Bars, bar{class, s.Pivot, number(s.Median), y, max(w, 1), left + max(w, 1) + 6})
			said = append(said, strings.TrimSpace(name+" "+s.Pivot)+" "+number(s.Median))
			y += barPitch
		}
		y += 6
	}
	for i := range d.Lines {
		d.Lines[i].Bottom = y
		y += barPitch
	}
	d.Height, d.Description = y+6, strings.Join(said, "; ")
	var b bytes.Buffer
	if err := svg.Execute(&b, d); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// heading is the title of a group: "mariadb", "8 goroutines", "1,000,000 rows", "delay 1ms".
func heading(key, value string) string {
	switch n, err := strconv.Atoi(value); {
	case err == nil && n == 1:
		return value + " " + strings.TrimSuffix(key, "s")
	case err == nil && n >= 1000:
		return number(float64(n)) + " " + key
	case err == nil:
		return value + " " + key
	case key == "delay":
		return key + " " + value
	}
	return value
}

var svg = template.Must(template.New("svg").Funcs(template.FuncMap{
	"x": html.EscapeString, "add": func(a, b int) int { return a + b },
}).Parse(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d {{.Height}}" width="%[1]d" height="{{.Height}}" role="img" aria-labelledby="title about">
<title id="title">{{x .Title}}</title>
<desc id="about">{{x .Description}}</desc>
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 14px; font-weight: 600 }
.name { text-anchor: end }
.page { fill: #ffffff }
.ours { fill: #0969da }
.rival { fill: #8c959f }
.floor { fill: #d0d7de }
.line { stroke: #cf222e; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.page { fill: #0d1117 }
.ours { fill: #4493f8 }
.rival { fill: #7d8590 }
.floor { fill: #3d444d }
.line { stroke: #ff7b72 }
}
</style>
<rect class="page" width="%[1]d" height="{{.Height}}"/>
<text class="title" x="12" y="22">{{x .Title}}</text>
{{range .Labels}}<text class="title" x="12" y="{{.Y}}">{{x .Text}}</text>
{{end}}{{range .Bars}}<text class="name" x="%[2]d" y="{{add .Y 11}}">{{x .Name}}</text><rect class="{{.Class}}" x="%[3]d" y="{{.Y}}" width="{{.Width}}" height="%[4]d"/><text x="{{.FigureX}}" y="{{add .Y 11}}">{{.Figure}}</text>
{{end}}{{range .Lines}}<path class="line" d="M{{.X}} %[5]d V{{.Bottom}}"/><text x="{{.X}}" y="{{add .Bottom 12}}">{{x .Text}}</text>
{{end}}</svg>
`, width, left-8, left, barHeight, headHeight-4)))
