// Command modproxy puts a version of a module into a folder that go can use as a
// proxy, so that a release can be tried before it is made:
//
//	modproxy FOLDER MODULE VERSION DIR
//	GOPROXY=file:///FOLDER go install MODULE/cmd/x@VERSION
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: modproxy FOLDER MODULE VERSION DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1], module.Version{Path: os.Args[2], Version: os.Args[3]}, os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "modproxy:", err)
		os.Exit(1)
	}
}

func run(folder string, m module.Version, dir string) error {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	at := filepath.Join(folder, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{m.Version, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	list, err := os.OpenFile(filepath.Join(at, "list"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer list.Close()
	if _, err := fmt.Fprintln(list, m.Version); err != nil {
		return err
	}
	for name, content := range map[string][]byte{".mod": mod, ".info": info} {
		if err := os.WriteFile(filepath.Join(at, m.Version+name), content, 0o644); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(at, m.Version+".zip"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := zip.CreateFromDir(file, m, dir); err != nil { // leaves out nested modules, as go does
		return err
	}
	return file.Close()
}
