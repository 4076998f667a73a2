//go:build race

package worker

// slowness is by how much a test may take longer: the race detector makes each request some times as
// slow, and other tests run at the same time.
const slowness = 6
