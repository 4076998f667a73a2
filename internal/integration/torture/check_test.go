//go:build unix

package torture

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// An interval is a range of consecutive ids, and the process that issued them.
type interval struct {
	first, last int64
	source      int64
}

const intervalSize = 24

// A checker finds ids that were issued twice, in intervals in any order. It keeps at most
// `most` of them in memory, sorts them and writes them to a file. At the end it merges the
// files.
type checker struct {
	dir    string
	most   int
	held   []interval
	sorted []string
	ids    uint64
	count  uint64 // of intervals
}

// A finding is the result of a checker.
type finding struct {
	ids        uint64
	intervals  uint64
	duplicates uint64      // how many ids came again; one that came three times counts twice
	first      []duplicate // some of them
}

// A duplicate is a range of ids that two intervals have in common.
type duplicate struct {
	first, last int64
	sources     [2]int64
}

const shown = 5 // duplicates that a finding names

func newChecker(dir string) *checker { return &checker{dir: dir, most: 1 << 20} }

func (c *checker) add(i interval) error {
	if i.last < i.first {
		return fmt.Errorf("interval %d to %d of source %d", i.first, i.last, i.source)
	}
	c.ids += uint64(i.last-i.first) + 1
	c.count++
	if c.held = append(c.held, i); len(c.held) < c.most {
		return nil
	}
	return c.spill()
}

func (c *checker) spill() (err error) {
	slices.SortFunc(c.held, func(a, b interval) int { return cmp.Compare(a.first, b.first) })
	f, err := os.Create(filepath.Join(c.dir, fmt.Sprintf("sorted-%d", len(c.sorted))))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<16)
	var b []byte
	for _, i := range c.held {
		b = b[:0]
		for _, v := range []int64{i.first, i.last, i.source} {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	c.held = c.held[:0]
	c.sorted = append(c.sorted, f.Name())
	return w.Flush()
}

// finish merges the files and compares each interval with the one before it that ends last.
// The checker cannot be used afterwards.
func (c *checker) finish() (found finding, err error) {
	if err := c.spill(); err != nil {
		return found, err
	}
	found.ids, found.intervals = c.ids, c.count
	var m merger
	defer func() {
		for _, s := range m {
			err = errors.Join(err, s.file.Close())
		}
		for _, name := range c.sorted {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	for _, name := range c.sorted {
		f, err := os.Open(name)
		if err != nil {
			return found, err
		}
		s := &stretch{file: f, r: bufio.NewReaderSize(f, 1<<16)}
		switch err := s.next(); {
		case err == io.EOF:
			if err := f.Close(); err != nil {
				return found, err
			}
			continue
		case err != nil:
			return found, errors.Join(err, f.Close())
		}
		m = append(m, s)
	}
	heap.Init(&m)
	var far interval
	for begun := false; len(m) > 0; begun = true {
		i := m[0].head
		if begun && i.first <= far.last {
			d := duplicate{i.first, min(i.last, far.last), [2]int64{far.source, i.source}}
			found.duplicates += uint64(d.last-d.first) + 1
			if len(found.first) < shown {
				found.first = append(found.first, d)
			}
		}
		if !begun || i.last > far.last {
			far = i
		}
		switch err := m[0].next(); {
		case err == io.EOF:
			s := heap.Pop(&m).(*stretch)
			if err := s.file.Close(); err != nil {
				return found, err
			}
		case err != nil:
			return found, err
		default:
			heap.Fix(&m, 0)
		}
	}
	return found, nil
}

// A stretch is one sorted file and its current interval.
type stretch struct {
	file *os.File
	r    *bufio.Reader
	head interval
}

func (s *stretch) next() error {
	var b [intervalSize]byte
	if _, err := io.ReadFull(s.r, b[:]); err != nil {
		return err
	}
	s.head = interval{
		int64(binary.LittleEndian.Uint64(b[:])),
		int64(binary.LittleEndian.Uint64(b[8:])),
		int64(binary.LittleEndian.Uint64(b[16:])),
	}
	return nil
}

// merger is a heap of stretches.
type merger []*stretch

func (m merger) Len() int           { return len(m) }
func (m merger) Less(i, j int) bool { return m[i].head.first < m[j].head.first }
func (m merger) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merger) Push(x any)        { *m = append(*m, x.(*stretch)) }
func (m *merger) Pop() any {
	old := *m
	last := old[len(old)-1]
	*m = old[:len(old)-1]
	return last
}
