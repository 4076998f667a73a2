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
//	gen, err := httpstore.Open(ctx, httpstore.Config{URL: "https://ids.internal/leases", Token: secret})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//
// # Guarantees
//
// They are those of the store behind the server. The server keeps nothing itself, so any number
// of servers may offer one store. Clocks are compared with the store's clock, and the store
// measures the time to live.
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
// The protocol is in docs/workers.md.
package httpstore
