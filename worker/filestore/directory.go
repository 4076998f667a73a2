package filestore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// directory is that of a namespace. For each worker ID N it has N.json, the record; N.alive,
// locked by the process that holds N; and N.lock, locked while the record is changed. It also
// has the files layout and lock, see claimLock.
type directory struct{ path string }

func recordFile(workerID int64) string  { return fmt.Sprintf("%d.json", workerID) }
func processLock(workerID int64) string { return fmt.Sprintf("%d.alive", workerID) }
func recordLock(workerID int64) string  { return fmt.Sprintf("%d.lock", workerID) }

func (d directory) join(name string) string { return filepath.Join(d.path, name) }

// path returns the directory of a namespace. A file system may ignore case, and give a dot or
// a slash a meaning.
func (s *Store) path(namespace string) string {
	var name []byte
	for _, c := range []byte(namespace) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			name = append(name, c)
		} else {
			name = fmt.Appendf(name, "=%02x", c)
		}
	}
	return filepath.Join(s.dir, string(name))
}

// fileRecord is a record as it is written.
type fileRecord struct {
	FencingToken *int64  `json:"epoch"`
	ClaimID      *string `json:"token"`
	Owner        string  `json:"owner"`
	Fence        *int64  `json:"until_ts"`
	Expires      int64   `json:"expires_at"`
}

func encode(rec driver.Record) ([]byte, error) {
	return json.Marshal(fileRecord{&rec.FencingToken, &rec.ClaimID, rec.Owner, &rec.Fence, rec.Expires})
}

// decode reads what encode has written. It does not guess a field that is missing.
func decode(content []byte) (driver.Record, error) {
	var f fileRecord
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return driver.Record{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return driver.Record{}, errors.New("there is more text after the record")
	}
	switch {
	case f.FencingToken == nil:
		return driver.Record{}, errors.New("it has no epoch")
	case f.ClaimID == nil:
		return driver.Record{}, errors.New("it has no token")
	case f.Fence == nil:
		return driver.Record{}, errors.New("it has no until_ts")
	case *f.FencingToken < 1:
		return driver.Record{}, fmt.Errorf("its epoch is %d, and must be at least 1", *f.FencingToken)
	}
	return driver.Record{FencingToken: *f.FencingToken, ClaimID: *f.ClaimID, Owner: f.Owner, Fence: *f.Fence, Expires: f.Expires}, nil
}

// records reads all records, and orders them by worker ID.
func (d directory) records() ([]driver.Record, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	var records []driver.Record
	for _, e := range entries {
		text, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		workerID, err := strconv.ParseInt(text, 10, 64)
		if err != nil || workerID < 0 {
			return nil, driver.Permanent(fmt.Errorf("filestore: %s is not a file of the store: move it to another directory", d.join(e.Name())))
		}
		rec, err := d.read(workerID)
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	slices.SortFunc(records, func(a, b driver.Record) int { return cmp.Compare(a.Worker, b.Worker) })
	return records, nil
}

// read reads a record. If it cannot be read, that is an error: a fence is never guessed.
func (d directory) read(workerID int64) (driver.Record, error) {
	name := d.join(recordFile(workerID))
	content, err := os.ReadFile(name)
	if err != nil {
		return driver.Record{}, fmt.Errorf("filestore: %w", err)
	}
	rec, err := decode(content)
	if err != nil {
		return driver.Record{}, driver.Permanent(fmt.Errorf("filestore: %s is damaged: restore it, or remove it after the clock has passed all ids of this worker ID: %w", name, err))
	}
	rec.Worker = workerID
	return rec, nil
}

// write replaces a record on the disk, in one step.
func (d lockedDirectory) write(rec driver.Record) error {
	content, err := encode(rec)
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	return d.replace(recordFile(rec.Worker), append(content, '\n'))
}

// replace writes a file under another name, flushes it, and renames it. There is one such name
// for each lock, and so one writer at a time; what a crash has left there is overwritten.
func (d lockedDirectory) replace(name string, content []byte) error {
	temporary := d.join(d.name + ".new")
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	// If the lock file was removed, another process may have another lock, and what is in the
	// temporary file may be its own.
	current, err := sameFile(d.lock, d.join(d.name))
	if err == nil && !current {
		err = fmt.Errorf("filestore: %s was removed or replaced while it was locked: do not remove files of the store", d.join(d.name))
	}
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, d.join(name)); err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	return syncDirectory(d.path)
}

// checkLayout compares the layout of the namespace with that of the request. The first claim
// writes it.
func (d lockedDirectory) checkLayout(r driver.Request) error {
	content, err := os.ReadFile(d.join("layout"))
	if errors.Is(err, os.ErrNotExist) {
		return d.replace("layout", []byte(r.Layout+"\n"))
	}
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	if have := strings.TrimSuffix(string(content), "\n"); have != r.Layout {
		return &driver.LayoutError{Namespace: r.Namespace, Have: have, Want: r.Layout}
	}
	return nil
}

// syncDirectory flushes the names in a directory.
func syncDirectory(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("filestore: flush %s: %w", name, err)
	}
	return nil
}
