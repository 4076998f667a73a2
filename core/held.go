package core

// A Reason is why a generator asks its Worker for another grant.
type RegrantReason uint8

// The reasons; see [Grant.RegrantReason].
const (
	RegrantNone      RegrantReason = iota // no generator has asked for another
	RegrantLost                           // the grant was revoked or closed
	RegrantExhausted                      // ids have come to its end, which has not risen within Config.MaxWait
	RegrantRotate                         // the clock went back, and ids are to go on from there under another number; see Rotate
)

// String names the reason in words.
func (r RegrantReason) String() string {
	switch r {
	case RegrantNone:
		return "not asked"
	case RegrantLost:
		return "grant lost"
	case RegrantExhausted:
		return "grant used up"
	case RegrantRotate:
		return "clock went back"
	}
	return "unknown reason"
}

// Asked is why the grant's generator has asked for another, the last time it
// did: a [Worker] learns it from the prev that it is given.
func (g *Grant) RegrantReason() RegrantReason { return RegrantReason(g.asked.Load()) }

// Attached reports whether a generator has taken the grant. Once true it stays
// so; whether that generator is there still is told by Done.
func (g *Grant) Attached() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.run != nil
}

// Done is closed when no generator has the grant and none will: the one that had
// it was closed or has gone on under another, or the grant was closed before any
// had taken it, as New does when it fails. From then on no id is issued under it,
// and Close tells where its ids have ended. So a [Worker] whose grant is done can
// give the rest of its time to the next generator, or give it back.
//
// A generator whose grant is revoked or closed has it until it has another or is
// closed itself.
func (g *Grant) Done() <-chan struct{} { return g.done }

// over notes that no generator will have the grant any more; g.mu is held.
func (g *Grant) over() {
	if !g.isOver() {
		close(g.done)
	}
}

func (g *Grant) isOver() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// letGo is called by the grant's generator, which has closed its run and ended, or
// has another.
func (g *Grant) letGo() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over()
}
