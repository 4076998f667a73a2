package filestore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// directory is that of a space. For each number it has N.json, the row; N.alive,
// the lock of the process that holds it; and N.lock, that of who changes the row.
// Besides, layout, and lock, that of who claims.
type directory struct{ path string }

// changing is a directory in which this process alone changes what the lock is for: a
// row, or the layout.
type changing struct {
	directory
	name string // of the lock
	lock *os.File
}

const spaceLock = "lock"

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
func lockName(number int64) string  { return fmt.Sprintf("%d.lock", number) }

func (d directory) join(name string) string { return filepath.Join(d.path, name) }

// rows reads all rows.
func (d directory) rows() ([]driver.Record, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	var rows []driver.Record
	for _, e := range entries {
		text, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || number < 0 {
			return nil, driver.Permanent(fmt.Errorf("filestore: %s is none of the store's files; move it elsewhere", d.join(e.Name())))
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
func (d directory) read(number int64) (driver.Record, error) {
	content, err := os.ReadFile(d.join(rowName(number)))
	if err != nil {
		return driver.Record{}, fmt.Errorf("filestore: %w", err)
	}
	row, err := decode(content)
	if err != nil {
		return driver.Record{}, driver.Permanent(fmt.Errorf("filestore: %s is damaged, restore it or make sure that no id of this number lies ahead of the clock and remove it: %w", d.join(rowName(number)), err))
	}
	row.Worker = number
	return row, nil
}

// decode reads what write has written. A field that is missing is not guessed.
func decode(content []byte) (driver.Record, error) {
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
		return driver.Record{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return driver.Record{}, errors.New("there is more behind the row")
	}
	switch {
	case f.Epoch == nil:
		return driver.Record{}, errors.New("it has no epoch")
	case f.Token == nil:
		return driver.Record{}, errors.New("it has no token")
	case f.Until == nil:
		return driver.Record{}, errors.New("it has no until_ts")
	case *f.Epoch < 1:
		return driver.Record{}, fmt.Errorf("its epoch is %d, and must be at least 1", *f.Epoch)
	}
	return driver.Record{FencingToken: *f.Epoch, ClaimID: *f.Token, Owner: f.Owner, Fence: *f.Until, Expires: f.Expires}, nil
}

// write puts a row in the place of the one before, on the disk, in one step.
func (d changing) write(row driver.Record) error {
	content, err := json.Marshal(file{row.FencingToken, row.ClaimID, row.Owner, row.Fence, row.Expires})
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	fresh, err := d.flushed(append(content, '\n'))
	if err != nil {
		return err
	}
	return d.rename(fresh, rowName(row.Worker))
}

// flushed writes a file that is on the disk, under a name of its own: there is one
// for each lock, and so one writer at a time. What a crash has left is overwritten.
func (d changing) flushed(content []byte) (name string, err error) {
	name = d.join(d.name + ".new")
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

// rename puts a flushed file in its place, if that is still locked: another
// process has another lock when somebody has removed this one's file.
func (d changing) rename(fresh, name string) error {
	held, err := same(d.lock, d.join(d.name))
	if err == nil && !held {
		err = fmt.Errorf("filestore: %s was removed or replaced while it was held; no file of the store may be", d.join(d.name))
	}
	if err != nil {
		return err // and what is written now may be the other's
	}
	if err := os.Rename(fresh, d.join(name)); err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	return syncDir(d.path)
}

// checkLayout compares the space's layout with the request's; the first claim
// records it.
func (d changing) checkLayout(r driver.Request) error {
	content, err := os.ReadFile(d.join("layout"))
	if errors.Is(err, os.ErrNotExist) {
		fresh, err := d.flushed([]byte(r.Layout + "\n"))
		if err != nil {
			return err
		}
		return d.rename(fresh, "layout")
	}
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	if have := strings.TrimSuffix(string(content), "\n"); have != r.Layout {
		return &driver.LayoutError{Namespace: r.Namespace, Have: have, Want: r.Layout}
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

// errLocked is returned by tryLock when somebody has it.
var errLocked = errors.New("filestore: locked")

// tryLock takes a lock file if nobody has it. It is held until it is closed, or the
// process ends.
func (d directory) tryLock(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(d.join(name), os.O_RDWR|os.O_CREATE, 0o640)
		if err != nil {
			return nil, fmt.Errorf("filestore: %w", err)
		}
		if err := flock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		// A file that was removed between the two is locked for nobody else.
		held, err := same(f, d.join(name))
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if held {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("filestore: %w", err)
		}
	}
}

// locked calls f while this process alone changes what the lock is for.
func (d directory) locked(ctx context.Context, name string, f func(changing) error) error {
	for tried := false; ; tried = true {
		switch err := ctx.Err(); {
		case err != nil && tried:
			return fmt.Errorf("filestore: %s is locked by another process, which may be stopped: %w", d.join(name), err)
		case err != nil:
			return err
		}
		lock, err := d.tryLock(name)
		if err == nil {
			return errors.Join(f(changing{d, name, lock}), lock.Close())
		}
		if !errors.Is(err, errLocked) {
			return err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// same reports whether the file of that name is the one that is open.
func same(f *os.File, name string) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("filestore: %w", err)
	}
	named, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("filestore: %w", err)
	}
	return os.SameFile(opened, named), nil
}
