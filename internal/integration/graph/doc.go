// Package graph tests package gormplugin/graph on every database: models_test.go has the models, graph_test.go
// begins.
package graph
