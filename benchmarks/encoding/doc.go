// Package encoding measures how ids become JSON and arguments of database/sql,
// and come back.
//
// sonyflake, godruoyi, guaik, holdno, yitter, influx and wuid have no type of
// their own: their ids are an int64 or uint64, and cost what floor-int64 costs.
// As JSON that is a number, which a browser rounds.
package encoding
