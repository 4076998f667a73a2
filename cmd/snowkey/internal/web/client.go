package web

import (
	"net/http"
	"net/netip"
	"strings"
)

// proxies are the addresses of the proxies whose X-Forwarded-For is believed.
type proxies []netip.Prefix

// client returns the address of the client: the sender's or, if that is a trusted proxy, the last
// one in X-Forwarded-For that is not. Each proxy appends the address that it has seen, so what is
// further to the left may be made up.
func (p proxies) client(r *http.Request) netip.Addr {
	address, _ := hop(r.RemoteAddr)
	if len(p) == 0 {
		return address
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trust(address); i-- {
		before, ok := hop(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		address = before
	}
	return address
}

func (p proxies) trust(address netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}

// hop reads an address with or without a port.
func hop(text string) (address netip.Addr, ok bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return address.Unmap().WithZone(""), err == nil
}
