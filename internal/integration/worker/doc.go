// Package worker runs leases of package worker on real servers, over each of its stores: the suite
// of worker/storetest, what each server and driver adds to it, and outages. The tests of SQLite are
// in worker/sqlstore, and those of etcd's store in contrib/etcdstore. Folder outage takes the database
// away from whole programs, and folder knocks does so at random under graphs of rows.
package worker
