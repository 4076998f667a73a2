// Package browser tests the pages of `snowkey serve` and of the examples in a headless
// Chromium. Its helpers build a command, start it on a free port, and open tabs that fail the
// test for each error that the page logs.
package browser
