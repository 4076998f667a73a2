module github.com/seed-299c1d6b/snowkey/examples

go 1.25.0

require (
	github.com/glebarez/go-sqlite v1.23.0
	github.com/glebarez/sqlite v1.11.0
	github.com/go-sql-driver/mysql v1.10.1
	github.com/seed-299c1d6b/snowkey v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/schollz/progressbar/v3 v3.19.1
	golang.org/x/term v0.44.0
	gorm.io/driver/mysql v1.6.0
	gorm.io/driver/postgres v1.6.3
	gorm.io/gorm v1.31.2
)


// This module is never published: it always runs beside the library it shows.
replace github.com/seed-299c1d6b/snowkey => ../
