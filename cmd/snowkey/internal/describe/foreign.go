package describe

import (
	"math/big"
	"regexp"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
)

const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// timed lists other kinds of ids that contain their time: the digits that the pattern captures, without the
// lowest bits, count units from an epoch in Unix seconds.
var timed = []struct {
	name    string
	pattern *regexp.Regexp
	digits  string
	low     uint
	unit    time.Duration
	epoch   int64
}{
	{"a UUID of version 7", regexp.MustCompile(`^([0-9a-f]{8}-?[0-9a-f]{4})-?7[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`), crockford[:16], 0, time.Millisecond, 0},
	{"a ULID or a TypeID", regexp.MustCompile(`^([0-7][0-9a-hjkmnp-tv-z]{9})[0-9a-hjkmnp-tv-z]{16}$`), crockford, 0, time.Millisecond, 0},
	{"an ObjectId", regexp.MustCompile(`^([0-9a-f]{8})[0-9a-f]{16}$`), crockford[:16], 0, time.Second, 0},
	{"a KSUID", regexp.MustCompile(`^([0-9A-Za-z]{27})$`), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 128, time.Second, 1_400_000_000},
	{"a TID of AT Protocol", regexp.MustCompile(`^(3[2-7a-z]{12})$`), "234567abcdefghijklmnopqrstuvwxyz", 10, time.Microsecond, 0},
}

// foreign returns the kind of an id of another kind, and its time, or an empty string.
func foreign(text string) string {
	for _, kind := range timed {
		spelt := text
		if kind.low == 0 { // in any case
			spelt = asciiLower(text)
		}
		found := kind.pattern.FindStringSubmatch(spelt)
		if found == nil {
			continue
		}
		n := new(big.Int)
		for _, r := range strings.ReplaceAll(found[1], "-", "") {
			n.Add(n.Mul(n, big.NewInt(int64(len(kind.digits)))), big.NewInt(int64(strings.IndexRune(kind.digits, r))))
		}
		n.Mul(n.Rsh(n, kind.low), big.NewInt(int64(kind.unit)))
		ms := n.Quo(n, big.NewInt(int64(time.Millisecond))).Int64() + kind.epoch*1000
		return kind.name + ", made " + timetext.FormatMilli(ms)
	}
	return ""
}
