package filestore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// directory is that of a space. For each number it has N.json, the row, and
// N.alive, the lock of the process that holds it; besides, layout and lock.
type directory string

// file is a row as it is written.
type file struct {
	Epoch   int64  `json:"epoch"`
	Token   string `json:"token"`
	Owner   string `json:"owner"`
	Until   int64  `json:"until_ts"`
	Expires int64  `json:"expires_at"`
}

func rowName(number int64) string   { return fmt.Sprintf("%d.json", number) }
func aliveName(number int64) string { return fmt.Sprintf("%d.alive", number) }

func (d directory) join(name string) string { return filepath.Join(string(d), name) }

// rows reads all rows.
func (d directory) rows() ([]worker.Row, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	var rows []worker.Row
	for _, e := range entries {
		text, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || number < 0 {
			return nil, fmt.Errorf("filestore: %s is none of the store's files", d.join(e.Name()))
		}
		row, err := d.read(number)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// read reads a row. What cannot be read is an error: a bound is never guessed.
func (d directory) read(number int64) (worker.Row, error) {
	content, err := os.ReadFile(d.join(rowName(number)))
	if err != nil {
		return worker.Row{}, fmt.Errorf("filestore: %w", err)
	}
	row, err := decode(content)
	if err != nil {
		return worker.Row{}, fmt.Errorf("filestore: %s is damaged, restore it or make sure that no id of this number lies ahead of the clock and remove it: %w", d.join(rowName(number)), err)
	}
	row.Worker = number
	return row, nil
}

// decode reads what write has written. A field that is missing is not guessed.
func decode(content []byte) (worker.Row, error) {
	var f struct {
		Epoch   *int64  `json:"epoch"`
		Token   *string `json:"token"`
		Owner   string  `json:"owner"`
		Until   *int64  `json:"until_ts"`
		Expires int64   `json:"expires_at"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return worker.Row{}, err
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // Token gives it as it is
		return worker.Row{}, errors.New("there is more behind the row")
	}
	switch {
	case f.Epoch == nil:
		return worker.Row{}, errors.New("it has no epoch")
	case f.Token == nil:
		return worker.Row{}, errors.New("it has no token")
	case f.Until == nil:
		return worker.Row{}, errors.New("it has no until_ts")
	case *f.Epoch < 1:
		return worker.Row{}, fmt.Errorf("its epoch is %d, and must be at least 1", *f.Epoch)
	}
	return worker.Row{Epoch: *f.Epoch, Token: *f.Token, Owner: f.Owner, Until: *f.Until, Expires: f.Expires}, nil
}

// write puts a row in the place of the one before, on the disk, in one step.
func (d directory) write(row worker.Row) error {
	content, err := json.Marshal(file{row.Epoch, row.Token, row.Owner, row.Until, row.Expires})
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	fresh, err := d.flushed(append(content, '\n'))
	if err != nil {
		return err
	}
	if err := os.Rename(fresh, d.join(rowName(row.Worker))); err != nil {
		return errors.Join(fmt.Errorf("filestore: %w", err), os.Remove(fresh))
	}
	return syncDir(string(d))
}

// flushed writes a file that is on the disk, under a name of its own. The space is
// locked, so there is one at a time; what a crash has left is overwritten.
func (d directory) flushed(content []byte) (name string, err error) {
	name = d.join("new")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return "", fmt.Errorf("filestore: %w", err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("filestore: %w", err)
	}
	return name, nil
}

// checkLayout compares the space's layout with the request's; the first claim
// records it.
func (d directory) checkLayout(r worker.Request) error {
	content, err := os.ReadFile(d.join("layout"))
	if errors.Is(err, os.ErrNotExist) {
		fresh, err := d.flushed([]byte(r.Layout + "\n"))
		if err != nil {
			return err
		}
		if err := os.Rename(fresh, d.join("layout")); err != nil {
			return fmt.Errorf("filestore: %w", err)
		}
		return syncDir(string(d))
	}
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	if have := strings.TrimSuffix(string(content), "\n"); have != r.Layout {
		return &worker.LayoutError{Space: r.Space, Have: have, Want: r.Layout}
	}
	return nil
}

// syncDir flushes the names in a directory.
func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("filestore: flush %s: %w", name, err)
	}
	return nil
}

// errLocked is returned by lock when somebody has it.
var errLocked = errors.New("filestore: locked")

// lock takes a lock file if nobody has it. It is held until it is closed, or the
// process ends.
func (d directory) lock(name string) (*os.File, error) {
	f, err := os.OpenFile(d.join(name), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	if err := flock(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
