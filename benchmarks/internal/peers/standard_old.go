//go:build !go1.27

package peers

func standard() []Peer { return nil }
