// Package web is the page that `snowkey serve` shows and its HTTP API: IDs generated
// and decoded, the IDs of a time range, the capacity of a layout. With a store it is
// also the lease server of package httpstore.
//
//	GET  /                    the page, whose files are embedded
//	GET  /api/layouts         the presets, or one layout, with figures
//	GET  /api/ids             new IDs of a worker ID, or those of a given time
//	GET  /api/parse, POST     IDs decoded
//	GET  /api/range           the IDs of a time range, for WHERE
//	GET  /api/openapi.json    the description of the API
//	POST /leases/v1/…         worker IDs, behind a token
//
// # Guarantees
//
// One server process never returns an ID of a layout twice, however the layout is
// written: layouts whose IDs are the same numbers share a generator. (IDs of different
// layouts may be equal; a column holds IDs of one layout.) The server cannot know which
// other process uses a worker ID. So there is no default for it, and IDs of a given
// time are labelled as bounds and test data.
//
// Wrong input gets status 400 and a list of all errors: the field, the value, and what
// it must be. IDs and times are read as the command reads them; see packages idtext,
// timetext and describe.
//
// # Security
//
// The page has no inline script and loads nothing from elsewhere, and its policy forbids
// both. Cross-site browser requests are rejected, and so are requests over loopback
// under a foreign name, which DNS rebinding causes. The lease server compares its token
// in constant time; no cookie replaces it.
package web
