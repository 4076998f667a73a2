// Package encoding runs sqltype through the encoders that Go programs use: every
// JSON package, YAML, CSV, the generators of OpenAPI schemas, and a Redis client.
// What each does is in a table; where one departs from encoding/json, the table
// says so. testdata/encoders.md is measured here.
package encoding
