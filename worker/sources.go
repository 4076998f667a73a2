package worker

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// noWorkerID is returned with an error. No function accepts it as a worker ID.
const noWorkerID = -1

// FromEnv reads a worker ID, datacenter<<WorkerBits | worker, from two environment variables:
// one for the worker and one for the datacenter. If datacenterVar is empty, workerVar has the
// whole worker ID. Each value must be a decimal number that fits the layout. Otherwise the worker
// ID is -1, which no function accepts, and the error is a [*core.ConfigError] that names each
// variable and quotes its value.
//
// FromEnv cannot know whether another process has the same worker ID. See the section
// "Assigned worker IDs" of the package comment.
func FromEnv(l core.Layout, workerVar, datacenterVar string) (int64, error) {
	return assigned(l, "variable", readVariable, workerVar, datacenterVar)
}

// FromFile is like [FromEnv] but reads files, such as those of a mounted configuration or
// secret, of at most 4 KiB each. White space around the number is ignored.
func FromFile(l core.Layout, workerFile, datacenterFile string) (int64, error) {
	return assigned(l, "file", readFile, workerFile, datacenterFile)
}

// FromOrdinal reads the ordinal of a StatefulSet's pod, its label apps.kubernetes.io/pod-index, from
// an environment variable or, if that name is empty, from a file, as the downward API provides
// them. It does not parse host names, because they look the same in two StatefulSets.
//
// Two pods can have the same ordinal: a pod that was deleted by force, or is behind a broken
// network, may still run. So use the ordinal as Config.Preferred of a lease.
func FromOrdinal(l core.Layout, variable, file string) (int64, error) {
	if variable != "" {
		return FromEnv(l, variable, "")
	}
	return FromFile(l, file, "")
}

// FromCounter takes the next worker ID from a counter, and returns how many are left. Call it once
// for each start of a process. A counter never starts over: when it has passed the layout's last
// worker ID, the error is a [*CounterExhaustedError]. The name follows the rules of a namespace.
//
// FromCounter suits processes that rarely start, with a layout that has many worker bits. For
// others use [Open], which reuses worker IDs.
func FromCounter(ctx context.Context, c driver.Counter, l core.Layout, name string) (workerID, left int64, err error) {
	var wrong fields.Errors
	addFields(&wrong, l.Validate(), driver.CheckNamespace(name))
	if fields.IsNil(c) {
		wrong.Add("Counter", nil, "must be given")
	}
	if err := wrong.Err("worker"); err != nil {
		return noWorkerID, 0, err
	}
	n, err := hung.Do(ctx, new(hung.Calls), "reserve", func() (int64, error) { return c.Reserve(ctx, name, 1) })
	if err != nil {
		return noWorkerID, 0, fmt.Errorf("worker: counter %q: %w", name, err)
	}
	if n < 1 {
		return noWorkerID, 0, fmt.Errorf("worker: counter %q returned %d: it must count up from 1", name, n)
	}
	workers := l.WorkerIDs()
	if n > workers {
		return noWorkerID, 0, &CounterExhaustedError{Name: name, WorkerIDs: workers}
	}
	return n - 1, workers - n, nil // the first is worker ID 0
}

func readVariable(name string) (text, fault string) {
	text, ok := os.LookupEnv(name)
	if !ok {
		return "", "is not set"
	}
	return text, ""
}

// maxFile is the most bytes that a file with a number may have.
const maxFile = 4096

func readFile(name string) (text, fault string) {
	f, err := os.Open(name)
	if err != nil {
		return "", err.Error()
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", err.Error()
	case len(content) > maxFile: // a truncated number is another number
		return "", fmt.Sprintf("has more than %d bytes", maxFile)
	}
	return strings.TrimSpace(string(content)), ""
}

// assigned reads a worker ID from one or two strings. If one cannot be read, fault says why.
func assigned(l core.Layout, kind string, readText func(name string) (text, fault string), workerName, datacenterName string) (int64, error) {
	if err := l.Validate(); err != nil {
		return noWorkerID, err
	}
	l = l.WithDefaults()
	var wrong fields.Errors
	read := func(name, what string, values int64) int64 {
		if name == "" {
			wrong.Add(what, "", "must be the name of a "+kind)
			return 0
		}
		text, fault := readText(name)
		var n int64
		if fault == "" {
			n, fault = decimal(text, values)
		}
		if fault != "" {
			wrong.Add(kind+" "+name, text, fault)
		}
		return n
	}
	var worker, datacenter int64
	if datacenterName == "" {
		worker = read(workerName, "worker", l.WorkerIDs())
	} else {
		worker = read(workerName, "worker", valueCount(l.WorkerBits))
		datacenter = read(datacenterName, "datacenter", valueCount(l.DatacenterBits))
	}
	if err := wrong.Err("worker"); err != nil {
		return noWorkerID, err
	}
	return datacenter<<l.WorkerBits | worker, nil
}

// decimal parses a number from 0 to values-1, or says what is wrong with it.
func decimal(text string, values int64) (n int64, fault string) {
	if text == "" {
		return 0, "is empty"
	}
	if strings.Trim(text, "0123456789") != "" {
		return 0, "must be a decimal number, digits only"
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n >= values {
		return 0, fmt.Sprintf("must be 0 to %d in this layout", values-1)
	}
	return n, ""
}

// FromPodIP returns the host bits of this machine's address in the network prefix, which is in
// CIDR form ("10.4.0.0/22"). The error is a [*core.ConfigError] if these are more bits than the
// layout has for datacenter and worker together, because two addresses would then have the same
// worker ID, or if this machine has no address in the network, or several.
//
// Two processes can have the same address: containers on the host's network, networks with the
// same range, an address that is reassigned to the next pod. Where that is possible, use the
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
