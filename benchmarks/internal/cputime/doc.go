// Package cputime measures the CPU time of this process, which other programs on the
// machine affect less than elapsed time.
package cputime
