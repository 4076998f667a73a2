// Package rules tests what holds for the tree as a whole: which packages may
// import what.
package rules
