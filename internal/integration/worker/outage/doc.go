// Package outage takes a database away from programs that keep their rows and their
// lease in it, over one pool, as the README shows it. 400 requests at a time begin
// transactions, make ids and write rows; the database is away for longer than the fence
// allows ids; and when it is back, rows must be written again within seconds. Transactions
// that waited for ids would hold every connection, and the renewal needs one.
//
// The normal run takes a few cells and a short window. All of them, with the default
// settings and an outage of 45 seconds:
//
//	SNOWKEY_OUTAGE=45s go test -v -count=1 -parallel 4 -timeout 2h ./internal/integration/worker/outage
package outage
