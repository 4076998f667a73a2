package main

import (
	"net/http"
	"strconv"
	"strings"
)

// etag is the strong validator of one order: its version.
func etag(o *Order) string { return strconv.Quote("v" + strconv.FormatInt(o.Version, 10)) }

// notModified reports whether If-None-Match names the tag; weak ones will do.
func notModified(r *http.Request, tag string) bool {
	return matches(r.Header.Values("If-None-Match"), tag, true)
}

// precondition requires the version that the client has seen: 428 without If-Match, 412 if it
// names another version. It may be * or strong tags.
func precondition(r *http.Request, o *Order) error {
	sent := r.Header.Values("If-Match")
	if len(sent) == 0 {
		return newProblem(http.StatusPreconditionRequired, "send If-Match with the ETag of the order as you know it")
	}
	if !matches(sent, etag(o), false) {
		f := fault{"If-Match", strings.Join(sent, ", "), "the order is at " + etag(o)}
		return newProblem(http.StatusPreconditionFailed, reasons(f), f)
	}
	return nil
}

// matches looks for a tag in a list of tags.
func matches(lists []string, tag string, weak bool) bool {
	for _, list := range lists {
		for one := range strings.SplitSeq(list, ",") { // no tag of ours has a comma
			one = strings.TrimSpace(one)
			if weak {
				one = strings.TrimPrefix(one, "W/")
			}
			if one == "*" || one == tag {
				return true
			}
		}
	}
	return false
}
