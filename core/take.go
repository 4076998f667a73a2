package core

// take reserves up to want places and gives the first, or says that there is
// none at present.
//
// The swap is what makes it safe: it succeeds only if nobody has issued since
// the word was loaded, and it never lowers the word. A goroutine that pauses
// after reading the clock finds the word beyond its time, and goes by the word;
// a place refused on such an old reading is looked at again in await.
func (g *Generator) take(r *run, want uint64) (from, n uint64) {
	s := r.shape
	bits := s.layout.SequenceBits
	word := r.word.Load()
	now, ceiling := g.limits(r)
	for {
		last := r.last(ceiling)
		if now > last { // also where the layout's time is over
			return 0, 0
		}
		from = word
		if clock := now << bits; clock > word {
			from = clock + g.sequence.first(word, s.seqMax)
		}
		tick := from >> bits
		if tick > last { // the closed word is beyond every tick
			return 0, 0
		}
		n = want
		if want > 1 {
			n = min(want, (last-tick+1)<<bits-from&s.seqMax)
		}
		skip := from - word
		if skip > 0 {
			g.stats.skipped.Add(skip) // before the swap, so that Stats never counts too many
		}
		if r.word.CompareAndSwap(word, from+n) {
			if skip > 0 && r.left != nil {
				r.left.add(word, from, g.oldest(tick)<<bits)
			}
			return from, n
		}
		if skip > 0 {
			g.stats.skipped.Add(-skip)
		}
		// Another core has the word. Passing it to and fro for each id costs more
		// than the id: so that one runs on for a while, and the next try reads the
		// clock first, which leaves it less time to come between.
		g.clock.backOff()
		now, ceiling = g.limits(r)
		word = r.word.Load()
	}
}

// limits gives the present tick, and the last one that the clock allows.
func (g *Generator) limits(r *run) (now, ceiling uint64) {
	if g.policy.answer == detached {
		return 0, g.shape.lastTick
	}
	elapsed, wall, carried := g.clock.lines()
	now = g.clock.tickAt(wall)
	if line := g.line(r, elapsed, wall, carried); line != wall {
		return now, g.clock.tickAt(line)
	}
	return now, now
}

// line is what ids may not pass without borrowing: the wall clock, the carried
// clock if the ClockPolicy goes by it, or the grant's first tick carried on,
// whichever is the highest.
func (g *Generator) line(r *run, elapsed, wall, carried int64) int64 {
	if g.policy.carry {
		wall = max(wall, carried)
	}
	return max(wall, elapsed+r.granted)
}

// carryOn lets a run that nobody draws from yet go on from its grant's first
// tick, if that lies ahead of the clock, and from a line that it takes over.
func (g *Generator) carryOn(r *run, granted int64) {
	r.granted = granted
	if g.policy.answer == detached {
		return
	}
	if _, ceiling := g.limits(r); r.grant.from > ceiling {
		r.granted = g.clock.lineFrom(r.grant.from)
	}
}

// oldest is the first tick of Reuse's window before a tick.
func (g *Generator) oldest(tick uint64) uint64 {
	return tick - min(uint64(g.policy.window/g.shape.layout.Tick), tick)
}
