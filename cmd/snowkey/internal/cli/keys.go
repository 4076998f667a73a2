package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/flagval"
	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/keysgen"
)

const keysAbout = `Write what generators of code must be told about the keys in a Go package.

For each T of a sqltype.Key[T] or NullKey[T] in the package, --for go writes the
aliases that it lacks, such as OrderKey and NullOrderKey. With these, --for gorm
writes a Go file of the package with a FieldTypeMap for gorm gen, gqlgen the
models for gqlgen.yml, sqlc the overrides for sqlc.yaml, and swag a .swaggo, so
that ids are documented as strings; so do the Go files for invopop
(Reflector.Mapper), jsonschema (google/jsonschema-go and MCP,
ForOptions.TypeSchemas) and kin-openapi (openapi3gen.SchemaCustomizer).

It runs the go command. The package need not compile without the aliases.
--output replaces only a file that this command has written.`

func (a *app) keysCommand() *cobra.Command {
	tool, output := "go", ""
	cmd := a.command("keys [flags] PACKAGE", "write aliases of typed keys, and entries for code generators", keysAbout,
		"  snowkey keys -o models/keys.go ./models\n  snowkey keys --for swag -o .swaggo ./models\n  snowkey keys --for sqlc ./models",
		arguments(1, 1, "a folder or an import path"), func(_ *cobra.Command, args []string) error { return a.keys(args[0], tool, output) })
	enumVar(cmd, flagval.New(&tool, "TOOL", "go", flagval.OneOf(keysgen.Tools...)), "for", flagval.List(keysgen.Tools), keysgen.Tools)
	cmd.Flags().StringVarP(&output, "output", "o", "", "write this `FILE` instead of standard output")
	return cmd
}

func (a *app) keys(pattern, tool, output string) error {
	pkg, err := keysgen.Read(pattern)
	if err != nil {
		return err
	}
	text, err := pkg.Write(tool)
	if err != nil || output == "" {
		_, _ = a.out.Write(text)
		return err
	}
	if info, err := os.Stat(output); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("--output %q: is not a regular file; without --output, the text is printed", output)
	}
	old, err := os.ReadFile(output)
	if first, _, _ := bytes.Cut(old, []byte("\n")); err == nil && !bytes.Contains(first, []byte(keysgen.Marker)) {
		return fmt.Errorf("--output %q: snowkey keys did not write this file: choose another name, or remove it", output)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = replaceFile(output, text)
	}
	if err != nil {
		return fmt.Errorf("--output %q: %w", output, dsn.Bare(err))
	}
	return nil
}

// replaceFile writes a file as a whole, or leaves it as it was.
func replaceFile(name string, text []byte) error {
	next, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	err = errors.Join(err, next.Chmod(0o644), next.Close()) // code is for all
	if err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}
