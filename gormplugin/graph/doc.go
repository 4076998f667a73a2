// Package graph writes graphs of gorm models.
package graph
