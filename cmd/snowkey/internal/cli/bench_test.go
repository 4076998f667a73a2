package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The command's throughput, in nanoseconds per ID. The floors do only what cannot be avoided:
// they read and write as many lines as gen and parse --to decimal.

func benchLines(n int64) []byte {
	var lines []byte
	for i := range n {
		lines = append(strconv.AppendInt(lines, 1996573624012345677+i*37, 10), '\n')
	}
	return lines
}

// benchRun runs f for n IDs, with a pipe whose other end is read as fast as possible.
func benchRun(b *testing.B, n int, f func(out io.Writer)) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for part := make([]byte, 64<<10); err == nil; {
			_, err = r.Read(part)
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		f(w)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/ID")
	_ = w.Close()
	<-read
	_ = r.Close()
}

func benchCommand(b *testing.B, n int, in []byte, args ...string) {
	b.Helper()
	benchRun(b, n, func(out io.Writer) {
		if code := Run(context.Background(), args, Env{In: strings.NewReader(string(in)), Out: out, Err: io.Discard, Getenv: environment("", ""), Build: build}); code != 0 {
			b.Fatalf("%q: exit code %d", args, code)
		}
	})
}

// The layout has no limit that a processor reaches.
func BenchmarkGen(b *testing.B) {
	const n = 2_000_000 // the first takes up to a millisecond
	lines := benchLines(n)
	b.Run("floor", func(b *testing.B) {
		benchRun(b, n, func(out io.Writer) {
			for rest := lines; len(rest) > 0; {
				part := rest[:min(64<<10, len(rest))]
				_, _ = out.Write(part)
				rest = rest[len(part):]
			}
		})
	})
	for _, format := range []string{"decimal", "hex", "base58", "json"} {
		b.Run(format, func(b *testing.B) {
			args := []string{"gen", "--worker", "0", "--time-bits", "41", "--sequence-bits", "22", "-n", fmt.Sprint(n)}
			if format == "json" {
				benchCommand(b, n, nil, append(args, "--json")...)
			} else {
				benchCommand(b, n, nil, append(args, "--format", format)...)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	const n = 100_000
	lines := benchLines(n)
	b.Run("floor", func(b *testing.B) {
		benchRun(b, n, func(out io.Writer) {
			w := bufio.NewWriterSize(out, 64<<10)
			for s := bufio.NewScanner(strings.NewReader(string(lines))); s.Scan(); {
				id, _ := strconv.ParseInt(s.Text(), 10, 64)
				_, _ = w.Write(append(strconv.AppendInt(w.AvailableBuffer(), id, 10), '\n'))
			}
			_ = w.Flush()
		})
	})
	for _, args := range []string{"--to decimal", "--to base58", "--brief", "--brief --tz Europe/Vienna", "--json", ""} {
		b.Run("parse "+args, func(b *testing.B) { benchCommand(b, n, lines, append([]string{"parse"}, strings.Fields(args)...)...) })
	}
}
