//go:build unix

package torture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// A record is one event of a process, in 16 bytes. A process that is killed while it writes
// leaves at most one incomplete record, at the end.
type record struct {
	a    int64
	n    uint32
	kind kind
}

type kind uint32

const (
	issued    kind = iota + 1 // n ids, one after another, the first is a
	claimed                   // the worker ID n, with the fencing token a
	lost                      // the worker ID n
	fenced                    // a call met the end of its grant
	noneFree                  // no worker ID could be had
	failed                    // the store failed at a claim
	stalled                   // the process stood still in the middle of issuing
	forgotten                 // the worker ID n, because the store has forgotten
	noticed                   // that the store may have forgotten
	garbled                   // a reply was lost on purpose, or a request was sent late or twice
	kinds
)

const recordSize = 16

func (r record) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.a))
	b = binary.LittleEndian.AppendUint32(b, r.n)
	return binary.LittleEndian.AppendUint32(b, uint32(r.kind))
}

// A logbook is the records of one process. When write returns, the kernel has them, and keeps
// them if the process is killed.
type logbook struct{ file *os.File }

func openLogbook(path string) (*logbook, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &logbook{f}, err
}

// write appends records in one step. If that fails, the process ends.
func (l *logbook) write(records ...record) {
	b := make([]byte, 0, len(records)*recordSize)
	for _, r := range records {
		b = r.append(b)
	}
	if _, err := l.file.Write(b); err != nil {
		die(err)
	}
}

// readLogbook reads the records from an offset on, and returns the offset after the last
// complete one.
func readLogbook(path string, from int64, each func(record)) (next int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return from, err
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return from, err
	}
	r := bufio.NewReaderSize(f, 1<<16)
	var b [recordSize]byte
	for next = from; ; next += recordSize {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // cut off, or still being written
				err = nil
			}
			return next, err
		}
		each(record{
			a:    int64(binary.LittleEndian.Uint64(b[:])),
			n:    binary.LittleEndian.Uint32(b[8:]),
			kind: kind(binary.LittleEndian.Uint32(b[12:])),
		})
	}
}

// runs records ids: consecutive ones make one record.
func runs(records []record, ids []int64) []record {
	for begin := 0; begin < len(ids); {
		end := begin + 1
		for end < len(ids) && ids[end] == ids[end-1]+1 {
			end++
		}
		records = append(records, record{ids[begin], uint32(end - begin), issued})
		begin = end
	}
	return records
}
