package rules

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

const module = "github.com/seed-299c1d6b/snowkey/"

// root is the folder of the repository.
var root = filepath.Join("..", "..")

// Beyond the standard library, a package imports these and nothing else, not even
// indirectly. So a program that needs only IDs pulls in no database driver.
var allowed = map[string][]string{
	"core":                nil,
	"sqltype":             nil,
	"ddl":                 {module + "core", module + "worker/driver", module + "internal"},
	"serial":              {module + "core", module + "worker/driver", module + "internal"},
	"snowkeytest":         {module + "core", module + "sqltype", module + "worker", module + "internal"},
	"internal/testserver": nil,
	"internal/backoff":    nil,

	"worker":            {module + "core", module + "internal"},
	"worker/memstore":   {module + "core", module + "worker", module + "internal"},
	"worker/sqlstore":   {module + "core", module + "worker", module + "ddl", module + "internal"},
	"worker/redisstore": {module + "core", module + "worker", module + "internal"},
	"worker/httpstore":  {module + "core", module + "worker", module + "internal"},
	"worker/storetest":  {module + "core", module + "worker", module + "internal"},
}

// What a package may name in its own import lines, beyond the standard library.
var direct = map[string][]string{
	"pgxtype":    {module + "sqltype", "github.com/jackc/pgx/v5"},
	"gormplugin": {module + "sqltype", module + "internal/fields", module + "gormplugin/internal", module + "core", module + "worker", module + "ddl", "gorm.io/gorm"}, // core, worker and ddl for the lease
	// The graph writer knows the plugin, and the plugin does not know it.
	"gormplugin/internal/keys":    {module + "gormplugin/internal/rows", module + "internal/fields", module + "sqltype", "gorm.io/gorm"},
	"gormplugin/internal/sqlite":  {module + "gormplugin/internal/rows", "gorm.io/gorm"},
	"gormplugin/internal/outcome": {module + "internal/retry", "gorm.io/gorm"},
	"gormplugin/graph":            {module + "gormplugin/internal", module + "sqltype", module + "internal/retry", module + "internal/fields", "gorm.io/gorm"},

	"pgxtype/pgxload": {module + "pgxtype", module + "sqltype", module + "internal/retry", module + "internal/fields", "github.com/jackc/pgx/v5"},
	"worker/pgxstore": {module + "core", module + "worker", module + "ddl", module + "internal/fields", "github.com/jackc/pgx/v5"},
}

func TestImports(t *testing.T) {
	for pkg, others := range allowed {
		t.Run(pkg, func(t *testing.T) {
			got := list(t, "-deps", module+pkg)
			if !slices.Contains(got, module+pkg) {
				t.Fatalf("%s is not among its own dependencies: the test shows nothing", pkg)
			}
			check(t, pkg, append(others, module+pkg), got)
		})
	}
	for pkg, others := range direct {
		t.Run(pkg, func(t *testing.T) {
			got := list(t, "-f", `{{join .Imports "\n"}}`, module+pkg)
			if len(got) < 2 {
				t.Fatalf("%s imports %q: the test shows nothing", pkg, got)
			}
			check(t, pkg, others, got)
		})
	}
}

func check(t *testing.T, pkg string, allowed, imports []string) {
	t.Helper()
	for _, path := range imports {
		first, _, _ := strings.Cut(path, "/")
		if !strings.Contains(first, ".") {
			continue // the standard library has no dot in its first element
		}
		if !slices.ContainsFunc(allowed, func(a string) bool { return path == a || strings.HasPrefix(path, a+"/") }) {
			t.Errorf("%s imports %s", pkg, path)
		}
	}
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	testserver.Uncached()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %q: %v", args, err)
	}
	return strings.Fields(string(out))
}

// Code in contrib, tests aside, is built on the public API: it imports nothing internal but what lies
// in its own module.
func TestContrib(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join(root, "contrib", "*", "go.mod"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("no modules in contrib, %v", err)
	}
	for _, file := range modules {
		own := module + "contrib/" + filepath.Base(filepath.Dir(file))
		t.Run(own, func(t *testing.T) {
			for _, path := range list(t, "-f", `{{join .Imports "\n"}}`, own+"/...") {
				if strings.HasPrefix(path, module) && strings.Contains(path, "/internal/") && !strings.HasPrefix(path, own+"/") {
					t.Errorf("it imports %s", path)
				}
			}
		})
	}
}
