// Command licences prints the licence of each module that the packages here are
// built from, and fails if one is not among those that a program may be shipped
// with.
//
//	licences FOLDER...
//
// Each FOLDER holds a module of this repository. Tests count too.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// Licences that ask for no more than to be named. MPL-2.0 asks for changes to its
// own files, of which there are none.
var allowed = map[string]bool{
	"MIT": true, "MIT-0": true, "BSD-2-Clause": true, "BSD-3-Clause": true, "0BSD": true, "ISC": true,
	"Apache-2.0": true, "MPL-2.0": true, "Zlib": true, "Unlicense": true, "CC0-1.0": true, "Unicode-DFS-2016": true,
}

// Modules that say nothing, and why they are here all the same.
var exempt = map[string]string{
	"github.com/holdno/snowFlakeByGo": "it is measured by benchmarks, which is never published and ships nothing",
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: licences FOLDER...")
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(folders []string) error {
	dirs := map[string]string{} // by path and version
	for _, folder := range folders {
		cmd := exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}\t{{with .Replace}}{{.Dir}}{{else}}{{.Dir}}{{end}}{{end}}{{end}}", "./...")
		cmd.Dir, cmd.Stderr = folder, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("go list in %s: %w", folder, err)
		}
		for line := range bytes.Lines(out) {
			if module, dir, found := strings.Cut(strings.TrimSpace(string(line)), "\t"); found {
				dirs[module] = dir
			}
		}
	}
	if len(dirs) == 0 {
		return errors.New("no dependency was found, and there are some")
	}
	var faults []error
	for _, module := range slices.Sorted(maps.Keys(dirs)) {
		found, err := licences(dirs[module])
		if err != nil {
			return fmt.Errorf("%s: %w", module, err)
		}
		if path, _, _ := strings.Cut(module, " "); len(found) == 0 && exempt[path] != "" {
			fmt.Printf("%-70s none: %s\n", module, exempt[path])
			continue
		}
		fmt.Printf("%-70s %s\n", module, strings.Join(found, ", "))
		if len(found) == 0 || slices.ContainsFunc(found, func(l string) bool { return !allowed[l] }) {
			faults = append(faults, fmt.Errorf("%s: licences %q, and only those that ask for no more than to be named are allowed", module, found))
		}
	}
	return errors.Join(faults...)
}

// licences looks into the files of a module's root whose names say that they hold one.
func licences(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.Type()&fs.ModeType != 0 || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "UNLICENSE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		for _, m := range licensecheck.Scan(text).Match {
			all[m.ID] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}
