package rules

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// goes checks a call of go: its folders exist and hold what the verb needs, and the program
// or test defines the flags that it is given.
func goes(verb string, args []string) error {
	switch verb {
	case "run", "test", "generate", "install", "get", "doc", "build", "vet":
	case "mod", "work":
		return nil // of a module yet to be made
	default:
		return fmt.Errorf("go has no such command, or none that is known here: %s", verb)
	}
	dir, bench := "", ""
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, value, given := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(arg, "./") && dir == "":
			dir = filepath.Join(root, strings.TrimSuffix(arg, "/..."))
		case strings.HasPrefix(arg, "github.com/") && dir == "":
			path, _, _ := strings.Cut(arg, "@")
			if owner, _, _ := strings.Cut(strings.TrimPrefix(module, "github.com/"), "/"); !strings.HasPrefix(path, "github.com/"+owner+"/") {
				return nil // of other owners
			}
			dir = filepath.Join(root, strings.TrimPrefix(path+"/", module))
		case !strings.HasPrefix(arg, "-"):
			// A value, or an argument of the program.
		case name == "-modfile" && given: // of any verb
		case verb == "vet" && name == "-vettool" && given:
		case verb == "build" && name == "-o":
			i++
		case dir == filepath.Join(root, "cmd", "snowkey"):
			// The tutorial's test runs these.
		case verb == "test" && slices.Contains(testFlags, name):
			if !given && i+1 < len(args) && !slices.Contains(testSwitches, name) {
				i++
				value = args[i]
			}
			if name == "-bench" {
				bench = value
			}
		case dir == "":
			return fmt.Errorf("go %s is given %s, which is not known here", verb, arg)
		case !contains(dir, regexp.MustCompile(`flag[A-Za-z]*\.[A-Za-z0-9]+\((?:&[\w.]+, )?"`+regexp.QuoteMeta(strings.TrimLeft(arg, "-"))+`"`)):
			return fmt.Errorf("%s has no flag %s", dir, arg)
		}
	}
	if dir == "" {
		return nil // `go test`, named and no more
	}
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	wants := regexp.MustCompile(`(?m)^package `)
	switch verb {
	case "run", "install":
		wants = regexp.MustCompile(`(?m)^package main$`)
	case "generate":
		wants = regexp.MustCompile(`(?m)^//go:generate `)
	case "get":
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			return err
		}
		return nil
	}
	if !contains(dir, wants) && !strings.HasSuffix(strings.Join(args, " "), "...") {
		return errors.New(dir + " has nothing for go " + verb)
	}
	for _, name := range strings.FieldsFunc(bench, func(r rune) bool { return r == '|' }) {
		if !contains(dir, regexp.MustCompile(`(?m)^func Benchmark[A-Za-z0-9_]*`+name)) {
			return fmt.Errorf("%s has no benchmark %s", dir, name)
		}
	}
	return nil
}

// Flags of go test: testSwitches take no value, the others take one.
var (
	testSwitches = []string{"-race", "-v", "-short", "-benchmem"}
	testFlags    = append([]string{"-run", "-skip", "-bench", "-benchtime", "-count", "-cpu", "-parallel", "-timeout", "-tags",
		"-coverpkg", "-coverprofile"}, testSwitches...)
)

// contains reports whether a Go file in the folder matches the pattern.
func contains(dir string, pattern *regexp.Regexp) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && pattern.Match(text)
	})
}
