// Package rules tests what holds for the tree as a whole: which packages may import what, that what
// is exported has an example, that generated code is current, and that no file names a folder of one
// machine.
package rules
