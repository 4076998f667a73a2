package worker

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
)

// FromEnv takes the worker number from environment variables: worker and
// datacenter each from its own, checked against its width. With an empty
// datacenterVar, workerVar holds the whole number, datacenter<<WorkerBits |
// worker. A variable that is missing, empty, no decimal number or out of range is
// told by name and value in a [core.ConfigError].
//
// That no two processes have the same is up to whoever sets them; see [Protect].
func FromEnv(l core.Layout, workerVar, datacenterVar string) (core.GrantSource, error) {
	return assigned(l, environment(), workerVar, datacenterVar)
}

// FromFile is FromEnv with the contents of files, as a mounted configuration or
// secret has them: at most 4 KiB each. Space around the number does not count.
func FromFile(l core.Layout, workerFile, datacenterFile string) (core.GrantSource, error) {
	return assigned(l, fileText(), workerFile, datacenterFile)
}

// FromOrdinal takes a StatefulSet's ordinal, the label
// apps.kubernetes.io/pod-index, from an environment variable or, if that name is
// empty, from a file, as the downward API gives them. Host names are not parsed:
// they look the same in two StatefulSets.
//
// While a pod that was deleted by force, or lies behind a broken network, is
// still there, two pods have one ordinal. Take it as Config.Preferred of a lease,
// or put it under [Protect], where that can be.
func FromOrdinal(l core.Layout, variable, file string) (core.GrantSource, error) {
	if variable != "" {
		return assigned(l, environment(), variable, "")
	}
	return assigned(l, fileText(), file, "")
}

// A source gives the text under a name, or what is wrong with it.
type source struct {
	kind string
	text func(name string) (text, fault string)
}

func environment() source {
	return source{"variable", func(name string) (text, fault string) {
		text, ok := os.LookupEnv(name)
		if !ok {
			return "", "is not set"
		}
		return text, ""
	}}
}

// mostInFile is what a file with a number may have, blanks and all.
const mostInFile = 4096

func fileText() source {
	return source{"file", func(name string) (text, fault string) {
		f, err := os.Open(name)
		if err != nil {
			return "", err.Error()
		}
		defer f.Close()
		content, err := io.ReadAll(io.LimitReader(f, mostInFile+1))
		switch {
		case err != nil:
			return "", err.Error()
		case len(content) > mostInFile: // half of a number is another number
			return "", fmt.Sprintf("has more than %d bytes, and must have a number only", mostInFile)
		}
		return strings.TrimSpace(string(content)), ""
	}}
}

func assigned(l core.Layout, from source, workerName, datacenterName string) (core.GrantSource, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	l = l.WithDefaults()
	var faults []core.FieldError
	read := func(name, what string, numbers int64) int64 {
		if name == "" {
			faults = append(faults, core.FieldError{Field: what, Value: `""`, Reason: "must be the name of a " + from.kind})
			return 0
		}
		text, fault := from.text(name)
		var n int64
		if fault == "" {
			n, fault = decimal(text, numbers)
		}
		if fault != "" {
			faults = append(faults, core.FieldError{Field: from.kind + " " + name, Value: fmt.Sprintf("%.100q", text), Reason: fault})
		}
		return n
	}
	var number int64
	if datacenterName == "" {
		number = read(workerName, "worker", l.WorkerIDs())
	} else {
		worker := read(workerName, "worker", values(l.WorkerBits))
		datacenter := read(datacenterName, "datacenter", values(l.DatacenterBits))
		number = datacenter<<l.WorkerBits | worker
	}
	if err := configError(faults); err != nil {
		return nil, err
	}
	origin := "from " + from.kind + " " + workerName
	if datacenterName != "" {
		origin += " and " + datacenterName
	}
	return newNumber(number, origin), nil
}

// values is how many values a field of that many bits has, as far as that can be said.
func values(width uint8) int64 { return 1 << min(width, 62) }

// decimal reads a number from 0 to numbers-1, or says what is wrong.
func decimal(text string, numbers int64) (n int64, fault string) {
	if text == "" {
		return 0, "is empty: no number is safe to guess"
	}
	if strings.Trim(text, "0123456789") != "" {
		return 0, "must be a decimal number, digits only"
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n >= numbers {
		return 0, fmt.Sprintf("must be 0 to %d in this layout", numbers-1)
	}
	return n, ""
}
