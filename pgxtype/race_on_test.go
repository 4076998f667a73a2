//go:build race

package pgxtype_test

const raceEnabled = true
