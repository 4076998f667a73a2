// Package cputime says how long this process has been busy, which other programs
// on the machine disturb less than they do a clock.
package cputime
