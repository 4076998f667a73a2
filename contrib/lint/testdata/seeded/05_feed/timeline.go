package feed

import "slices"

// Timeline returns the newest posts of a follower, at most n.
func Timeline(posts []Post, n int) Page[Post] {
	slices.SortFunc(posts, func(a, b Post) int { return b.ID.Compare(a.ID) })
	p := Page[Post]{Total: int64(len(posts))}
	p.Items = posts[:min(n, len(posts))]
	if len(p.Items) > 0 {
		p.Before = int64(p.Items[len(p.Items)-1].ID)
	}
	return p
}
