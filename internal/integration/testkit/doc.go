// Package testkit tests the helpers of package snowkeytest for gorm and pgx on real databases.
package testkit
