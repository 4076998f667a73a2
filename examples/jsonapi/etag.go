package main

import (
	"net/http"
	"strconv"
	"strings"
)

// etag is the strong validator of one order: its version.
func etag(o *Order) string { return strconv.Quote("v" + strconv.FormatInt(o.Version, 10)) }

// precondition requires the version that the client has seen: 428 without If-Match, 412 if it names
// another version.
func precondition(r *http.Request, o *Order) error {
	sent := r.Header.Get("If-Match")
	if sent == "" {
		return newProblem(http.StatusPreconditionRequired, "send If-Match with the ETag of the order as you know it")
	}
	if !matches(sent, etag(o)) {
		f := fault{"If-Match", sent, "the order is at " + etag(o)}
		return newProblem(http.StatusPreconditionFailed, reasons(f), f)
	}
	return nil
}

// matches looks for a tag in a list of tags.
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") { // no tag of ours has a comma
		if one = strings.TrimSpace(one); one == "*" || one == tag {
			return true
		}
	}
	return false
}
