// Package scale decides how large the measurements are, and in which order they run, by two
// environment variables:
//
//	BENCH_SCALE  small: sizes that only prove that a benchmark runs; full, or
//	             not set: those of the published figures
//	BENCH_ROUND  0, 1, 2 …: the case that runs first, so that no case always follows
//	             the same one
package scale

import (
	"os"
	"strconv"
	"testing"
)

// The variables' names.
const (
	Variable = "BENCH_SCALE"
	Round    = "BENCH_ROUND"
)

// Pick returns small or full, as the environment says. Any other value fails the
// benchmark, with the value in quotes.
func Pick[T any](tb testing.TB, small, full T) T {
	tb.Helper()
	switch v := os.Getenv(Variable); v {
	case "", "full":
		return full
	case "small":
		return small
	default:
		tb.Fatalf("%s=%q: want small or full", Variable, v)
		return small
	}
}

// Rotate returns the cases in this round's order: a copy that begins at another case in
// each round. A round that is not a number fails the benchmark.
func Rotate[T any](tb testing.TB, cases []T) []T {
	tb.Helper()
	v := os.Getenv(Round)
	if v == "" || len(cases) == 0 {
		return cases
	}
	round, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		tb.Fatalf("%s=%q: want a whole number from 0", Round, v)
	}
	at := int(round) * (len(cases)/6 + 1) % len(cases) // six rounds go once around
	return append(append(make([]T, 0, len(cases)), cases[at:]...), cases[:at]...)
}
