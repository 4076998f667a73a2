//go:build !race

package worker

// slowness is by how much a test may take longer.
const slowness = 1
