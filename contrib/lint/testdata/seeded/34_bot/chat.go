package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// update is what the server of the chat sends. Its numbers are not ours.
type update struct {
	ID      int64   `json:"update_id"` // OK 81: a number of the chat's server, which has 52 bits at most
	Message message `json:"message"`
}

type message struct {
	ID   int64  `json:"message_id"` // OK 82: the same
	Chat int64  `json:"chat_id"`
	Date int64  `json:"date"` // OK 83: Unix seconds
	Text string `json:"text"`
}

func (m message) reply() string {
	return fmt.Sprintf("%s, in message %d of %v", m.Text, m.ID, time.Unix(m.Date, 0).UTC())
}

// tile is the place of a map that was asked for, with both coordinates in one number.
func tile(packed int64) (x, y int32) {
	return int32(packed >> 22), int32(packed & (1<<22 - 1)) // OK 84: a shift of 22 bits, but no id
}

// versions sorts the names of releases.
func versions(names []string) []string {
	slices.Sort(names) // OK 85: names, not ids
	return names
}

// rank orders users of the chat by what they have said.
func rank(said map[int64]int) []int64 {
	users := make([]int64, 0, len(said))
	for id := range said {
		users = append(users, id)
	}
	slices.SortFunc(users, func(a, b int64) int { return cmp.Compare(said[b], said[a]) })
	return users
}

// share is the part of a user in all that was said.
func share(said map[int64]int, user int64) float64 {
	return float64(said[user]) / float64(max(1, len(said))) // OK 86: counts
}

// line is a line of the log of the chat's server.
func line(fields []string) (user int, err error) {
	return strconv.Atoi(fields[0]) // OK 87: a number of the chat's server
}
