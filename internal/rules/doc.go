// Package rules tests what holds for the tree as a whole: which packages may
// import what, that what is exported has an example, and that the documents name
// nothing that is not there.
package rules
