package testserver

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// find returns the paths of the engine's programs.
func (e *engine) find() ([]string, error) {
	if !supported {
		return nil, &missingError{e, "servers are started on Unix-like systems only"}
	}
	dirs, given := searchPath(), os.Getenv(e.binVar)
	if given != "" {
		// Installations from an archive keep the scripts beside bin.
		dirs = []string{given}
		for _, d := range []string{"bin", "sbin", "scripts"} {
			dirs = append(dirs, filepath.Join(given, "..", d))
		}
	}
	paths, reason := pick(dirs, e.programs, e.together)
	if reason == "" && e.refuse != nil {
		if err := e.refuse(paths); err != nil {
			reason = err.Error()
		}
	}
	switch {
	case reason == "":
		return paths, nil
	case given != "":
		// The folder was asked for: a skip would hide a typing error.
		return nil, fmt.Errorf("%s=%q: %s", e.binVar, given, reason)
	}
	return nil, &missingError{e, reason}
}

// pick returns the first path of each program, or the reason why there is none.
func pick(dirs []string, programs [][]string, together bool) (paths []string, reason string) {
	if together {
		for _, d := range dirs {
			if paths, reason = pick([]string{d}, programs, false); reason == "" {
				return paths, ""
			}
		}
		paths = nil
	}
	for _, names := range programs {
		path := firstExecutable(dirs, names)
		if path == "" {
			return nil, "program " + strings.Join(names, " or ") + " not found"
		}
		paths = append(paths, path)
	}
	if together {
		return nil, "the programs are there, but not in one folder"
	}
	return paths, ""
}

func firstExecutable(dirs, names []string) string {
	for _, n := range names {
		for _, d := range dirs {
			p := filepath.Join(d, n)
			if i, err := os.Stat(p); err == nil && !i.IsDir() && i.Mode()&0o111 != 0 {
				return p
			}
		}
	}
	return ""
}

// searchPath lists the folders of PATH, then those that distributions use. The
// sbin folders are not in the PATH of an ordinary user, PostgreSQL's in no user's.
func searchPath() []string {
	var dirs []string
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(d) {
			dirs = append(dirs, d)
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
	} {
		found, err := filepath.Glob(pattern)
		if err == nil { // the only error is a bad pattern
			dirs = append(dirs, newestFirst(found)...)
		}
	}
	return append(dirs, "/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin")
}

// newestFirst sorts paths by the numbers in them, so that 16 comes before 9.6.
func newestFirst(paths []string) []string {
	digits := regexp.MustCompile(`\d+`)
	numbers := func(p string) (ns []int) {
		for _, d := range digits.FindAllString(p, -1) {
			n, err := strconv.Atoi(d)
			if err != nil {
				break // out of range, so no version
			}
			ns = append(ns, n)
		}
		return ns
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(slices.Compare(numbers(b), numbers(a)), cmp.Compare(a, b))
	})
	return paths
}
