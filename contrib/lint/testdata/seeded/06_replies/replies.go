// Package replies is the wire format of a forum: threads and their replies.
package replies

import (
	"encoding/json"
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// ThreadID is another name of the same type.
type ThreadID = sqltype.Key[Thread]

type Thread struct {
	ID     ThreadID       `json:"id,string"` // FAULT 027 class 4: the option string on an alias of a Key; golang/go#20651
	Parent sqltype.NullID `json:"parent"`
	Title  string         `json:"title"`
}

type Reply struct {
	ID       sqltype.ID      `json:"id,omitempty,string"` // FAULT 028 class 4: the option string on an ID; golang/go#9812
	Thread   ThreadID        `json:"thread"`
	Quoted   *sqltype.ID     `json:"quoted,string"`      // FAULT 029 class 4: the option string on a pointer to an ID
	Edited   sqltype.NullID  `json:"edited_from,string"` // FAULT 030 class 4: the option string on a NullID; json-iterator/go#395
	Likes    int64           `json:"likes,string"`       // OK 22: an int64 may have the option
	Author   int64           `json:"author,string"`      // OK 23: a plain int64 needs it
	Language string          `json:"language"`
	Posted   time.Time       `json:"posted"`
	Raw      json.RawMessage `json:"raw,omitempty"`
}

// Ref refers to a row of another service by its key.
type Ref[Row any] struct {
	Service string           `json:"service"`
	Key     sqltype.Key[Row] `json:"key,string"` // FAULT 031 class 4: the option string on a Key in a generic struct
}

type Flag struct {
	Reply  sqltype.NullKey[Reply] `json:"reply,string"` // FAULT 032 class 4: the option string on a NullKey; bytedance/sonic#682
	Reason string                 `json:"reason"`
}

// Moderation is what a moderator gets.
type Moderation struct {
	Thread Ref[Thread] `json:"thread"`
	Flags  []Flag      `json:"flags"`
	Tag    string      `json:"tag,string"` // OK 24: not an id; quoted twice for an old client
}
