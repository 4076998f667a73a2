// Package messages sorts the messages of a chat by their keys. The first ones were made with
// auto-increment keys, so texts have 1 to 19 digits.
package messages

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Message struct {
	ID      sqltype.ID `json:"id"`
	Channel sqltype.ID `json:"channel"`
	Text    string     `json:"text"`
}

// Sort sorts messages by age.
func Sort(list []Message) {
	sort.Slice(list, func(i, j int) bool {
		return list[i].ID.String() < list[j].ID.String() // FAULT 087 class 11: decimal texts, of which "9" is greater than "10"; Rapptz/discord.py#409
	})
}

// SortByKey sorts messages by age.
func SortByKey(list []Message) {
	slices.SortFunc(list, func(a, b Message) int { return cmp.Compare(a.ID, b.ID) }) // OK 66: compares numbers
}

// SortByText sorts messages by age.
func SortByText(list []Message) {
	slices.SortFunc(list, func(a, b Message) int {
		return strings.Compare(a.ID.Base58(), b.ID.Base58()) // OK 67: texts of a fixed width
	})
}

// Keys returns the keys of messages as text, the oldest first.
func Keys(list []Message) []string {
	keys := make([]string, 0, len(list))
	for _, m := range list {
		keys = append(keys, m.ID.String())
	}
	sort.Strings(keys) // FAULT 088 class 11: a slice of decimal texts; sony/sonyflake#18
	return keys
}

// Set returns the keys of messages as text, each once.
func Set(list []Message) []string {
	keys := make([]string, 0, len(list))
	for _, m := range list {
		keys = append(keys, m.ID.Base62())
	}
	slices.Sort(keys) // OK 68: texts of a fixed width
	return slices.Compact(keys)
}

// Cursor is how far a client has read.
type Cursor struct{ After string }

// CursorOf returns the cursor after the last message.
func CursorOf(list []Message) Cursor {
	if len(list) == 0 {
		return Cursor{}
	}
	return Cursor{After: strconv.FormatInt(int64(list[len(list)-1].ID), 10)}
}

// Unread returns the messages after the cursor.
func (c Cursor) Unread(list []Message) []Message {
	var out []Message
	for _, m := range list {
		if m.ID.String() > c.After { // FAULT 089 class 11: compared as text with a stored text; sourcecred/sourcecred#3361
			out = append(out, m)
		}
	}
	return out
}

// Is reports whether the cursor is at a message.
func (c Cursor) Is(m Message) bool { return c.After == m.ID.String() } // OK 69: an id has one text, so they can be compared for equality

// Newest returns the greatest key of the channels.
func Newest(channels map[string][]Message) string {
	var newest string
	for _, list := range channels {
		for _, m := range list {
			newest = max(newest, m.ID.String()) // FAULT 090 class 11: max of texts
		}
	}
	return newest
}

// Padded returns a text that sorts as the id does.
func Padded(id sqltype.ID) string {
	text := id.String()
	return strings.Repeat("0", 19-len(text)) + text
}

// Older reports whether one is older than the other.
func Older(a, b Message) bool { return Padded(a.ID) < Padded(b.ID) } // OK 70: padded to 19 digits
