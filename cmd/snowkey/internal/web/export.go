package web

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// exportPolicy lets an exported page load nothing from elsewhere, and send nothing.
const exportPolicy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file: data:; ` +
	`style-src 'unsafe-inline'; script-src 'unsafe-inline' data:; base-uri 'none'; form-action 'none'">`

// Export writes the page to a folder, which is made if there is none. It works from any host and from
// file:, where browsers load no modules from files: they are in an import map of index.html instead. What
// needs a server, of class "server", is hidden.
func Export(dir string) error {
	files, err := static.ReadDir("static")
	if err != nil {
		return err
	}
	modules, text := map[string]string{}, map[string]string{}
	for _, f := range files {
		content, err := static.ReadFile("static/" + f.Name())
		if err != nil {
			return err
		}
		text[f.Name()] = string(content)
		if path.Ext(f.Name()) == ".js" {
			bare := strings.ReplaceAll(string(content), `from "./`, `from "`) // a name of the import map
			modules[f.Name()] = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(bare))
		}
	}
	imports, err := json.Marshal(map[string]any{"imports": modules})
	if err != nil {
		return err
	}
	page := strings.NewReplacer(
		`<html lang="en">`, `<html lang="en" data-static>`,
		`<meta charset="utf-8">`, `<meta charset="utf-8">`+"\n  "+exportPolicy,
		`<link rel="stylesheet" href="style.css">`, "<style>\n"+text["style.css"]+"</style>",
		`<script type="module" src="app.js"></script>`, `<script type="importmap">`+string(imports)+"</script>\n  "+`<script type="module">import "app.js";</script>`,
	).Replace(text["index.html"])
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // public files
		return err
	}
	for name, content := range map[string]string{"index.html": page, "icon.svg": text["icon.svg"], "preview.png": text["preview.png"]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil { //nolint:gosec // public files
			return err
		}
	}
	return nil
}
