module fixtures

go 1.26.0

require (
	github.com/seed-299c1d6b/snowkey v0.0.0
	gorm.io/gorm v1.31.2
)

require (
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/jinzhu/now v1.1.5 // indirect
	golang.org/x/text v0.41.0 // indirect
)

replace github.com/seed-299c1d6b/snowkey => ../../..
