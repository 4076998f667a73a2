package worker

// A state is where a lease is in its life. One goroutine, the lease's owner (owner.go),
// moves it from state to state by the transitions below.
type state uint8

const (
	acquiring state = iota // it has no worker ID yet
	held                   // the worker ID is the lease's, and is renewed
	checking               // held, and the store is asked what its clock shows, or whether the lease still has the worker ID
	rotating               // held, and the generator wants another worker ID
	lost                   // the worker ID is another holder's: another one is claimed
	releasing              // the lease is over: what it holds is released
	ended                  // it holds nothing
)

func (s state) String() string {
	return [...]string{"acquiring", "held", "checking", "rotating", "lost", "releasing", "ended"}[s]
}

// An event moves a lease from one state to the next.
type event uint8

const (
	claimed    event = iota // the store has granted a worker ID
	clockLeapt              // the wall clock is more than maxJump ahead of the ids' time
	clockBack               // the wall clock is no longer ahead
	confirmed               // the store's clock agrees with the wall clock, and the worker ID has a holder
	asked                   // the generator wants another worker ID
	unasked                 // the generator has not asked again for a while, and no claim was granted
	taken                   // the worker ID is another holder's
	doubted                 // the worker ID is another claim's, perhaps an unanswered one of this lease
	closed                  // Release was called, acquire gave up, or a loss under StopOnLoss
	drained                 // nothing is left to be released
)

func (e event) String() string {
	return [...]string{"claimed", "clock leapt", "clock back", "confirmed", "asked", "unasked", "taken", "doubted", "closed", "drained"}[e]
}

// transitions is the whole life of a lease. An event that the table does not have
// for a state does not change it.
//
// The table shows why ids do not stop for good. Each state but ended has a request that is
// repeated, after a short delay, until the store answers, and every answer leads on. In held,
// checking and rotating the worker ID is also renewed, so ids continue while another request is
// tried.
//
// A state that claims first repeats a claim that was not answered, as it was (see newClaim), so
// an answer always settles it: it was granted, and is used or released; or no worker ID is free
// for it, and it is over. Then the state makes a claim of its own:
//   - acquiring, lost and rotating use any worker ID that is granted. If none is, they claim
//     again; rotating ends when the generator has not asked for a while.
//   - checking claims its own worker ID. Granted, it is held anew. Refused, it has a holder, and
//     confirmed leads to held, whose renewal finds out whether that is this lease: if not, no
//     claim is unanswered any more, so taken leads to lost.
//   - releasing repeats what is unanswered, releases what is granted, and ends.
var transitions = [...]struct {
	from state
	on   event
	to   state
}{
	{acquiring, claimed, held},
	{acquiring, closed, releasing},

	{held, clockLeapt, checking},
	{held, doubted, checking},
	{held, asked, rotating},
	{held, taken, lost},
	{held, claimed, held}, // the same worker ID, by a claim that was answered late
	{held, closed, releasing},

	{checking, confirmed, held}, // the worker ID is renewed to the new time
	{checking, claimed, held},   // the claim had expired; a new one has the worker ID
	{checking, clockBack, held},
	{checking, asked, rotating},
	{checking, taken, lost},
	{checking, closed, releasing},

	{rotating, claimed, held}, // the worker ID before is released when its generator has left it
	{rotating, unasked, held},
	{rotating, doubted, checking},
	{rotating, taken, lost},
	{rotating, closed, releasing},

	{lost, claimed, held},
	{lost, closed, releasing},

	{releasing, drained, ended},
}

// on is the state after an event. ok is false if the table does not have it for s.
func (s state) on(e event) (next state, ok bool) {
	for _, t := range transitions {
		if t.from == s && t.on == e {
			return t.to, true
		}
	}
	return s, false
}
