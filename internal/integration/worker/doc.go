// Package stores runs the lease stores against real servers: the suite of
// worker/storetest and what each server adds to it.
package worker
