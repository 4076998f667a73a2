package worker

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// FromPodIP returns the low bits of this machine's address in the network prefix, which is
// in CIDR form ("10.4.0.0/22"): all the bits in which addresses of that network differ. The
// error is a [*core.ConfigError] if these are more bits than the layout has for datacenter
// and worker together, because two addresses would then have one worker ID, or if this
// machine has no address in the network, or several.
//
// Two processes can have one address: containers on the host's network, networks with the
// same range, an address that is assigned to the next pod. Where that is possible, use the
// result as Config.Preferred of a lease.
func FromPodIP(l core.Layout, prefix string) (int64, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return noWorkerID, fmt.Errorf("worker: addresses of this machine: %w", err)
	}
	var addrs []netip.Addr
	for _, a := range found {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			addrs = append(addrs, p.Addr().Unmap())
		}
	}
	return fromAddress(l, prefix, addrs)
}

func fromAddress(l core.Layout, prefix string, addrs []netip.Addr) (int64, error) {
	if err := l.Validate(); err != nil {
		return noWorkerID, err
	}
	l = l.WithDefaults()
	fault := func(format string, args ...any) error {
		return fields.Error("worker", "prefix", prefix, format, args...)
	}
	network, err := netip.ParsePrefix(prefix)
	if err != nil {
		return noWorkerID, fault("must be a network such as 10.4.0.0/22: %v", err)
	}
	if network != network.Masked() {
		return noWorkerID, fault("has bits set after its length; the network is %v", network.Masked())
	}
	host := network.Addr().BitLen() - network.Bits()
	if bits := int(l.DatacenterBits) + int(l.WorkerBits); host > bits {
		return noWorkerID, fault("leaves %d bits for addresses, and the layout has only %d for datacenter and worker: two addresses would have one worker ID", host, bits)
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
		return noWorkerID, fault("has %d addresses of this machine, and must have exactly one; the addresses are %s", len(inside), strings.Join(all, " "))
	}
	var id int64
	for _, b := range inside[0].AsSlice() {
		id = id<<8 | int64(b) // what is shifted out is part of the network
	}
	return id & (1<<host - 1), nil
}
