// Package encoding measures the encoding and decoding of ids as JSON and as arguments of
// database/sql.
//
// sonyflake, godruoyi, guaik, holdno, yitter, influx and wuid have no type of
// their own: their ids are an int64 or uint64, and cost what floor-int64 costs.
// In JSON that is a number, which a browser rounds.
package encoding
