// Package browser tests pages in a headless Chromium: that of `snowkey serve`, and
// those of the examples. Its helpers build a command, start it on a free port, and
// open tabs that fail the test for whatever the page complains of.
package browser
