package testserver

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// makeData makes the server's data by running a program, or copies what the program made for
// another server. The time of the program is most of what a server costs.
func (s *Server) makeData(argv ...string) error {
	folder := os.Getenv(runVar)
	if folder == "" {
		return s.run(argv...)
	}
	programs := sha256.Sum256([]byte(strings.Join(s.programs, "\n")))
	kept := filepath.Join(folder, fmt.Sprintf("%s-%x", s.Kind, programs[:4]))
	if _, err := os.Stat(kept); err == nil {
		return copyFolder(kept, s.data())
	}
	if err := s.run(argv...); err != nil {
		return err
	}
	// It appears at once, unless another process was faster.
	whole, err := os.MkdirTemp(folder, "copy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(whole)
	if err := copyFolder(s.data(), filepath.Join(whole, "data")); err != nil {
		return err
	}
	err = os.Rename(filepath.Join(whole, "data"), kept)
	if _, there := os.Stat(kept); there == nil {
		return nil
	}
	return err
}

// copyFolder copies a folder with its owners and permissions.
func copyFolder(from, to string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, tail(out))
	}
	return nil
}
