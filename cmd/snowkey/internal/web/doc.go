// Package web is the page that `snowkey serve` shows, and the HTTP interface beside
// it: ids made and taken apart, the bounds of a span of time, what a layout holds.
// With a store it is also the allocation server of package worker's httpstore.
//
//	GET  /                    the page, whose files are embedded
//	GET  /api/layouts         the presets, or one layout of one's own, with its figures
//	GET  /api/ids             new ids of a worker number; or those of a time that is given
//	GET  /api/parse, POST     ids taken apart
//	GET  /api/range           the ids of a span of time, for WHERE
//	GET  /api/openapi.json    all of it, described
//	POST /leases/v1/…         worker numbers, behind a token
//
// # What is guaranteed
//
// One server process never gives an id of a layout twice, however the layout is
// written: layouts that differ in words alone have one generator between them. (Ids of
// layouts that differ in fact may be equal; a column has ids of one layout.)
// What it does not know is who else uses a worker number. So there is no default for
// it, and ids of a time that was given are bounds and test data, and say so.
//
// Input that is wrong is answered with 400 and every fault: the field, the value, and
// what it should be. Ids are strings in JSON, in both directions, and so is every
// number that may be above 2^53.
//
// # Security
//
// The page has no inline script, loads nothing from elsewhere, and its policy forbids
// both. Requests that another site's page sends are refused, and so are those that
// come over loopback under a foreign name, as DNS rebinding makes them. The lease
// server compares its token in constant time, and no cookie stands for it.
package web
