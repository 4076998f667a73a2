// Package httpstore offers a lease store over HTTP, and is its client, for programs that cannot
// reach the database of the store. The server:
//
//	handler, err := httpstore.NewHandler(store, httpstore.HandlerConfig{Tokens: []string{secret}})
//	if err != nil {
//		return err
//	}
//	http.Handle("/leases/", http.StripPrefix("/leases", handler))
//
// Each program:
//
//	store, err := httpstore.New(httpstore.Config{URL: "https://ids.internal/leases", Token: secret})
//	if err != nil {
//		return err
//	}
//	gen, err := worker.Open(ctx, store, worker.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//
// # Guarantees
//
// They are those of the store behind the server. The server keeps nothing itself, so any number
// of servers may offer one store. Clocks are compared with the store's clock.
//
// The client sends each request once and follows no redirect; net/http repeats only a request
// that was never written. If an answer is lost or makes no sense, the outcome is unknown and
// the lease asks again: a claim with the same claim ID finds its worker ID.
//
// Each request has a random ID and each answer repeats it. So an answer that a proxy has
// cached, mixed up or made itself is an error, never a claim or the loss of one.
//
// The errors that driver.Store lists arrive with their types, for errors.Is and errors.As. Any
// other error is a [*StoreError] with its text.
//
// # Limits
//
// A program with a token can claim any worker ID of any namespace. Send tokens over https only.
// They are compared in constant time, and no error contains one.
//
// # Protocol
//
// Each request is a POST to v1/claim, v1/renew, v1/release, v1/reserve or, with HandlerConfig.Admin,
// v1/list, v1/free and v1/raise, with the headers "Authorization: Bearer TOKEN" and "Content-Type:
// application/json". Instants are Unix milliseconds and durations milliseconds. All fields are
// required, and no others are allowed:
//
//	POST v1/renew
//	{"id": "R4ND0M", "request": {"namespace": "default", "worker_id": 7, "claim_id": "…",
//	     "fencing_token": 1767225600000, "fence_window": 30000, "keep": false}}
//
//	200 {"id": "R4ND0M", "result": {"worker_id": 7, "fencing_token": 1767225600000,
//	     "start": 1767225600000, "fence": 1767225630000, "floor_raised": false}}
//	409 {"id": "R4ND0M", "error": {"kind": "not_held", "message": "…"}}
//
// The fields are those of package driver, as it names them in JSON. The kind of a 409 is no_worker_id, skew,
// layout, window, floor, durability, not_held, forgotten or locked. Besides the statuses of HTTP
// there are 400 for a wrong request (with the kind config, its fields are listed), 401 for a wrong
// token, 500 if the store failed, and 501 for a verb that the handler or its store does not offer.
package httpstore
