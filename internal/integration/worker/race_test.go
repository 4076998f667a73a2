//go:build race

package worker

// slowness is by how much a test may take longer: the race detector makes each request some times as
// slow.
const slowness = 6
