// Package encoding runs sqltype through every JSON package and through the encoders in the table of
// testdata/encoders.md, which is measured here. Where one departs from encoding/json, a table says so.
package encoding
