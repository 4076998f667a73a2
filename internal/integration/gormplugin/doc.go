// Package gormplugin tests the plugin on every database, in all modes of its drivers. paths_test.go begins.
package gormplugin

//go:generate go run gen/generate.go
