// Package gormcli has models with keys, and what GORM's own generator writes for them.
package gormcli

//go:generate go run ../../../../cmd/snowkey keys -o models/keys.go ./models
//go:generate go run ../../../../cmd/snowkey keys --for gorm -o models/gormcli.go ./models
//go:generate go run gorm.io/cli/gorm@v0.2.4 gen -i models -o helpers
