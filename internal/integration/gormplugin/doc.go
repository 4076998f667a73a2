// Package gormplugin tests the plugin on every database, in all modes of its drivers. graph_test.go
// begins: it compares every association with plain gorm.
package gormplugin
