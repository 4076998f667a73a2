//go:build !race

package pgxtype_test

const raceEnabled = false
