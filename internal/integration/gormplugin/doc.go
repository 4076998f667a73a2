// Package gormplugin tests the plugin and the graph writer with what the root module lacks: gorm's plugin
// dbresolver, and its driver of SQLite in C. The other tests are next to the code.
package gormplugin
