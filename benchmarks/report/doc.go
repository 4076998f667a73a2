// Package report turns the output of benchmarks into tables, charts, and a list of the
// benchmarks in which a rival is better.
//
// A benchmark's name has keys:
//
//	BenchmarkNext/goroutines=1/lib=bwmarrin
//
// One of the keys, lib, key or way, is the pivot: what is compared. The others are the
// conditions. Among the values of the pivot, "snowkey" and "snowflake" are ours, and all
// ratios are relative to them. Values that begin with either and a hyphen are ours too.
// Values that begin with "floor" are lower bounds, and no rivals.
//
// The same text gives the same files, byte for byte. Figures are medians of all runs. A
// difference counts if the Mann-Whitney test confirms it at the level of 5 %.
package report
