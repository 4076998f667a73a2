// Package file identifies the files of SQLite databases. It never opens a file, because closing it would
// release SQLite's locks on it.
package file

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// ID identifies the file at a path in this run of the machine: device, inode, birth and boot.
func ID(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	birth, err := birthOf(path, info)
	if err != nil {
		return "", fmt.Errorf("ask for the birth of %s: %w", path, err)
	}
	return fmt.Sprintf("%s:%s %s %s", field(info, "Dev"), field(info, "Ino"), birth, bootID()), nil
}

// field returns a field of the system's file information, or "" if there is no such field.
func field(info os.FileInfo, name string) string {
	if v := reflect.Indirect(reflect.ValueOf(info.Sys())); v.Kind() == reflect.Struct {
		if f := v.FieldByName(name); f.IsValid() {
			return fmt.Sprint(f)
		}
	}
	return ""
}

// CheckAlone returns an error if programs may open the file by two paths. In WAL mode, each path would
// have separate WAL files.
func CheckAlone(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at the database's file: %w", err)
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("look at the database's folder: %w", err)
	}
	switch links := field(info, "Nlink"); {
	case links != "" && links != "1":
		return driver.Permanent(fmt.Errorf("%s has %s hard links, and in WAL mode each would be its own database: remove the others", path, links))
	case field(info, "Dev") != field(folder, "Dev"):
		return driver.Permanent(fmt.Errorf("%s is mounted without its folder, and in WAL mode each mount would be its own database: mount the folder", path))
	}
	return nil
}
