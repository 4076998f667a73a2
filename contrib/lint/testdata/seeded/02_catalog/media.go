package catalog

import "time"

type base struct {
	ID        int64 `gorm:"primaryKey"` // ALSO 011: here the tag is missing
	CreatedAt time.Time
}

type Cover struct {
	Base base `gorm:"embedded;snowflake"` // FAULT 011 class 2: the tag is on the field that embeds the key
	URL  string
}

type Video struct {
	Key int64  `gorm:"primaryKey;autoIncrement:false;snow_flake"` // FAULT 012 class 2: snow_flake
	URL string `gorm:"uniqueIndex"`
}

type Subtitle struct {
	ID       int64 `gorm:"PRIMARYKEY;AUTOINCREMENT:FALSE;SNOWFLAKE"` // OK 12: capitals mean the same to gorm
	VideoKey int64
	Language string
}
