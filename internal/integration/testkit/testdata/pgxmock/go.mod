// A module for pgxmock, which does not compile with the pgx of the workspace.
module pgxmock

go 1.26.0

require (
	github.com/pashagolub/pgxmock/v4 v4.9.0
	github.com/seed-299c1d6b/snowkey v0.0.0
)

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.10.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

replace github.com/seed-299c1d6b/snowkey => ../../../../..
