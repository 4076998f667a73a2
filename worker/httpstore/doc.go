// Package httpstore offers a lease store over HTTP, and is its client: for a
// server that allots numbers to programs that do not reach its database. The
// server:
//
//	handler, err := httpstore.NewHandler(sqlstore.New(db, sqlstore.Config{}), httpstore.HandlerConfig{Tokens: []string{secret}})
//	…
//	http.Handle("/leases/", http.StripPrefix("/leases", handler))
//
// Each program:
//
//	store := httpstore.New(httpstore.Config{URL: "https://ids.internal/leases", Token: secret})
//	lease, err := worker.Acquire(ctx, store, worker.Config{})
//
// # What is guaranteed
//
// The same as without HTTP in between: the server keeps nothing itself, and any
// number of servers may offer one store. What it must not lose is up to that store.
// Clocks are compared with the store's, and times to live measured by it.
//
// The client sends each request once and follows no redirect; net/http sends again
// only what was never written. A request whose answer was lost or makes no sense is
// an error with an unknown outcome, and the lease asks again: a claim with the
// token it had, which finds its number.
//
// Each request has a random id and each answer repeats it, so that nothing a proxy
// has kept, mixed up or made itself is taken for an answer: neither a number nor
// the loss of one.
//
// The errors of package worker arrive as what they are, for errors.Is and errors.As:
// *NoWorkerIDError, *SkewError, *LayoutError, *DurabilityError, *ConfigError, *LostError,
// *UsedUpError, ErrNotHeld, ErrReleased. Any other is a [*StoreError] with its text.
//
// # Security
//
// Who has a token of the server can claim any number of any space. Send it over
// https only. Tokens are compared in constant time and stand in no error.
//
// # The protocol
//
// POST to v1/claim, renew, release, list, free and count below the URL, with
// "Authorization: Bearer TOKEN" and "Content-Type: application/json". Instants are
// Unix milliseconds and durations milliseconds, as JSON integers. All fields are
// required, and no other is allowed:
//
//	POST v1/renew
//	{"id": "R4ND0M", "request": {"space": "default", "worker": 7, "epoch": 3, "token": "…", "until": 1767225630000, "ttl": 40000}}
//
//	200 {"id": "R4ND0M", "result": {}}
//	409 {"id": "R4ND0M", "error": {"kind": "taken", "message": "…"}}
//
// The status is 200, 400 for a request that is wrong, 401 for a wrong token, 409
// for the typed errors, 413 for more than 16 KiB, 500 for a store that failed, and
// 501 for what the handler does not offer.
package httpstore
