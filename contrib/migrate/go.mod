module github.com/seed-299c1d6b/snowkey/contrib/migrate

go 1.26.0

require github.com/seed-299c1d6b/snowkey v0.0.0-00010101000000-000000000000

require pgregory.net/rapid v1.3.0
