// Package report turns the output of benchmarks into tables, a list of what is
// lost, and charts.
//
// A benchmark's name says what it is by keys:
//
//	BenchmarkNext/goroutines=1/lib=bwmarrin
//
// One of the keys is the pivot, lib, key or way: what is compared. The others
// say under which conditions. Of the values of the pivot "snowkey" or
// "snowflake" is ours, to which all ratios are taken; what begins with either
// and a hyphen is ours as well; what begins with "floor" is what nothing can go
// below, and is no rival.
//
// Everything is made of the text alone, so the same text gives the same files,
// byte for byte. Figures are medians over all runs in the text. A difference
// counts when the Mann-Whitney test says so at the level of 5 %.
package report
