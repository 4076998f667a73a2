package worker

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
)

// FromPodIP takes the low bits of this machine's address in the network `prefix`,
// in CIDR form ("10.4.0.0/22"): all the bits that differ between addresses of
// that network. It is an error if the network leaves more of them than the
// layout has for datacenter and worker together, for then two addresses would
// have one number; or if this machine has no address in it, or several.
//
// Two processes can have one address: containers on the host's network, networks
// with the same range, an address that is given to the next pod. Take the number
// as Config.Preferred of a lease where that can be, or put it under [Protect].
func FromPodIP(l core.Layout, prefix string) (core.GrantSource, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("worker: addresses of this machine: %w", err)
	}
	var addrs []netip.Addr
	for _, a := range found {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			addrs = append(addrs, p.Addr().Unmap())
		}
	}
	return fromAddress(l, prefix, addrs)
}

func fromAddress(l core.Layout, prefix string, addrs []netip.Addr) (core.GrantSource, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	l = l.WithDefaults()
	fault := func(format string, args ...any) error {
		return configError([]core.FieldError{{Field: "prefix", Value: fmt.Sprintf("%q", prefix), Reason: fmt.Sprintf(format, args...)}})
	}
	network, err := netip.ParsePrefix(prefix)
	if err != nil {
		return nil, fault("must be a network such as 10.4.0.0/22: %v", err)
	}
	if network != network.Masked() {
		return nil, fault("has bits set behind its length; the network is %v", network.Masked())
	}
	host := network.Addr().BitLen() - network.Bits()
	if bits := int(l.DatacenterBits) + int(l.WorkerBits); host > bits {
		return nil, fault("leaves %d bits to its addresses, and the layout has %d for datacenter and worker: two addresses would have one number", host, bits)
	}
	var inside []netip.Addr
	var all []string
	for _, a := range addrs {
		if network.Contains(a) {
			inside = append(inside, a)
		}
		all = append(all, a.String())
	}
	if len(inside) != 1 {
		return nil, fault("%d addresses of this machine lie in it, exactly one must; they are %s", len(inside), strings.Join(all, " "))
	}
	var number int64
	for _, b := range inside[0].AsSlice() {
		number = number<<8 | int64(b) // what is shifted out lies above the host's bits
	}
	number &= 1<<host - 1
	return newNumber(number, fmt.Sprintf("from address %v in %v", inside[0], network)), nil
}
