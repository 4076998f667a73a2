/* Ids that never stop: does a generator that is asked for ids get one again?
 *
 * One lease with the table of worker/lease.go, its generator, the calls for ids, and a store.
 * README.md says which function each action stands for, and what is assumed; model_test.go checks
 * this file with each of the switches below. Safety is lease.pml's: here no id has a number or a time.
 *
 * Time is in no counter. What takes time may take any: a delay, an answer, a caller's
 * patience. Three rules keep that apart from what cannot be: a request times out only
 * where the store fails, hangs, or has no connection for it; a caller gives up only while
 * nothing else can be done at once; and the fence is not reached while a call can be issued an id.
 *
 * Sizes: IDS worker IDs, CALLERS that ask again and again, POOL connections that they hold
 * while they ask, and that a request to the store needs one of (0: it has its own). What
 * may happen, and how often: OUTAGES, STUCK (a request is never answered), LOSES (the answer
 * to a claim is lost), TAKES (another holder takes a worker ID, or its claim expires), LOCKS (a
 * record is locked by somebody else), FORGETS (the store is put back), WRONG (the clock is wrong),
 * BACKS (it goes back), CLOSES. FOREVER: a lock, and a wrong clock, may stay for ever. KEPT: leases
 * never expire (Config.NoExpiry).
 *
 * Mutations, each of which must give a cycle without an id:
 *   NO_RETRY               a renewal that has failed is not made again
 *   NO_TIMEOUT             a request is waited for however long it takes
 *   CALLER_CANCELS         a claim lasts as long as the caller waits who wants another worker ID
 *   WAIT_IN_TRANSACTION    a call waits at the fence although renewals are known to fail
 *   LOST_NO_CLAIM          no other worker ID is claimed after a loss
 *   ROTATING_NO_RENEWAL    the worker ID is not renewed while another one is claimed
 *   NO_EVASION             no other worker ID is claimed while the record is locked
 *   FORGOTTEN_FAILS        a renewal that is answered "forgotten" has failed, and is repeated
 *   NO_FORMER              a lease may not claim the worker ID again that it had before
 *   NEW_CLAIM_ID           a claim that was not answered is repeated with another claim ID
 *   SKEW_SETTLES           the answer that the clock is wrong settles a claim that was not answered before
 *   KEEP_UNWANTED          a claim that is granted too late is not released
 */
#ifndef IDS
#define IDS 2
#endif
#ifndef CALLERS
#define CALLERS 1
#endif
#ifndef POOL
#define POOL 0
#endif
#ifndef OUTAGES
#define OUTAGES 0
#endif
#ifndef STUCK
#define STUCK 0
#endif
#ifndef LOSES
#define LOSES 0
#endif
#ifndef TAKES
#define TAKES 0
#endif
#ifndef LOCKS
#define LOCKS 0
#endif
#ifndef FORGETS
#define FORGETS 0
#endif
#ifndef WRONG
#define WRONG 0
#endif
#ifndef BACKS
#define BACKS 0
#endif
#ifndef CLOSES
#define CLOSES 0
#endif

mtype = { none,
  /* states and events, as in worker/lease.go */
  acquiring, held, rotating, lost, releasing, ended,
  claimed, wanted, settled, taken, closed, drained,
  /* requests, and what they come to; after refused, nothing is granted under this claim ID */
  claim, renew, release, ok, gone, locked, refused, skewed, failed,
  /* what a caller asks of the lease, and the answer */
  another, grant, raise, refusal,
  /* whose a worker ID is: another holder's, the current one, to be released, of the claim that is
     pending, of a claim that may not be renewed any more, and of one that the lease does not know */
  free, other, mine, left, pending, past, stray,
  /* what the generator has: the current worker ID, the one before, one that was revoked */
  current, before, revoked }

mtype state = acquiring, event = none;

/* The store, and the world. */
mtype row[IDS + 1] = free;   /* from 1 on */
bit down, wrong, ahead;      /* the store fails; our clock is wrong; the floor is ahead of the clock */
byte lock;                   /* the worker ID whose record somebody else has locked */
byte copy;                   /* of a claim that may yet be carried out: 1 of the pending one, 2 of an earlier one */

/* The request under way: about which worker ID, or not about which one, and the one before. */
mtype kind = none, answer = none;
byte worker, avoid, former;
bit stuck;                   /* it is never answered */

/* The lease's memory. */
byte cur, prev;              /* worker IDs: the current one, and one that the generator has yet to leave */
bit leaving[IDS + 1];        /* to be released */
bit claims;                  /* a claim is pending: its outcome is not known */
bit unknown;                 /* an attempt at it was not answered */
byte except, own;            /* what it asks for, as in avoid and former */
bit evading;
bit room, fault;             /* ids can be issued below the fence; it is known not to rise */
bit cfail, rfail;            /* the last claim, the last renewal has failed */
bit waits[3];                /* delays of claims, renewals and releases */
bit wake, closing;

/* The generator, and the calls for ids. */
mtype has = none, ask = none, reply = none;
bit behind, stays;           /* the clock went back, and the policy is Rotate; until the worker ID is another */
bit overtaken;               /* a call got a connection before the request that waits for one */
byte calls, got;

#define OVER (state == releasing || state == ended)
#define OURS(w) (row[w] == mine || row[w] == left || row[w] == pending || row[w] == stray)
#define HELD(w) (row[w] == mine || row[w] == left)
#define STALLED (state == lost -> cfail : rfail)
#define CAN ((has == current && room || has == before) && !behind && !OVER)
#define ATFENCE (has == current && !room && !behind && !OVER)
#ifdef WAIT_IN_TRANSACTION
#define REFUSED false
#else
#define REFUSED (ATFENCE && fault)
#endif
#define ASKS (ask == none && !OVER && (has == none || has == revoked || behind)) /* at once */
#define WAITING (!wake && !CAN && !REFUSED && !ASKS && !OVER && reply == none)   /* and so time passes */
#define SENT (kind != none && answer == none)
#define CONNECTION (POOL == 0 || calls < POOL)

/* Ids come again and again, or the lease was closed and holds nothing. */
#define issued (got > 0)
#define closedAndFree (state == ended && !OURS(1) && !OURS(IDS))
ltl live { ([]<> issued) || (<>[] closedAndFree) }

/* ---- the store ---- */

inline answers(a) { answer = a; overtaken = 0; wake = 1; printf("store    %e: %e\n", kind, answer) }

#define GIVES(w) (avoid != (w) && lock != (w) && (row[w] == free || row[w] == past && former == (w)))

proctype Store() {
  mtype result = none;
  byte w, loses = LOSES;

  do
  :: atomic { SENT && !stuck && CONNECTION && (!down || POOL == 0) -> /* it is carried out */
       if
       :: kind == claim && wrong -> result = skewed
       :: kind == claim && !wrong ->
          if
          :: row[1] == pending -> w = 1 /* found again by its claim ID */
          :: IDS > 1 && row[IDS] == pending -> w = IDS
          :: row[1] != pending && row[IDS] != pending ->
             if
             :: GIVES(1) -> w = 1
             :: IDS > 1 && GIVES(IDS) -> w = IDS
             :: ahead || !GIVES(1) && !GIVES(IDS) -> w = 0
             fi
          fi;
          result = (w == 0 -> refused : ok);
          row[w] = (w == 0 -> row[0] : pending)
       :: kind == renew -> result = (lock == worker -> locked : (HELD(worker) -> ok : gone))
       :: kind == release && lock == worker -> result = locked
       :: kind == release && lock != worker ->
          result = gone;
          row[worker] = (row[worker] == left || row[worker] == past -> free : row[worker])
       fi;
       if
       :: !down ->
          worker = (result == ok && kind == claim -> w : worker);
          answers(result)
       :: down -> answers(failed)
       :: loses > 0 && kind == claim -> loses--; answers(failed)
       fi;
       w = 0; result = none }
  :: atomic { SENT && !stuck && down -> /* it is refused, or arrives late */
       if
       :: true
       :: kind == claim && copy == 0 && POOL == 0 -> copy = 1
       fi;
       answers(failed) }
#ifndef NO_TIMEOUT
  :: atomic { SENT && stuck -> stuck = 0; answers(failed) }
#endif
  :: atomic { SENT && !stuck && !CONNECTION && WAITING -> answers(failed) } /* no connection within Timeout */
  od
}

/* What comes with time: claims expire, the copy of a claim arrives. */
#ifdef KEPT
#define EXPIRES(w) (row[w] == other)
#else
#define EXPIRES(w) (row[w] == other || row[w] == past)
#endif
#define ARRIVES(w) (row[w] == free && lock != (w) && except != (w))

proctype Time() {
  do
  :: atomic { EXPIRES(1) -> row[1] = free }
  :: atomic { IDS > 1 && EXPIRES(IDS) -> row[IDS] = free }
  :: atomic { ahead -> ahead = 0 }
  :: state == ended /* and goes on */
  :: atomic { copy > 0 && !down ->
       if
       :: ARRIVES(1) && row[IDS] != pending -> row[1] = (copy == 1 -> pending : other); printf("store    gives worker ID 1 to a claim that arrives late\n")
       :: IDS > 1 && ARRIVES(IDS) && row[1] != pending -> row[IDS] = (copy == 1 -> pending : other); printf("store    gives worker ID %d to a claim that arrives late\n", IDS)
       :: true
       fi; copy = 0 }
  od
}

/* A worker ID is as it was before: as now, or held by one who had it, or free; or the
 * holder has claimed it before, and may not renew. */
inline forget(w) {
  if
  :: true
  :: row[w] == free -> row[w] = other
  :: OURS(w) -> row[w] = free
  :: OURS(w) -> row[w] = other
  :: HELD(w) -> row[w] = past
  fi
}

/* What may happen, so often. */
proctype World() {
  byte outages = OUTAGES, stucks = STUCK, takes = TAKES, locks = LOCKS, forgets = FORGETS, wrongs = WRONG, backs = BACKS, closes = CLOSES;

  do
  :: atomic { outages > 0 && !down -> outages--; down = 1; printf("store    fails from now on\n") }
  :: atomic { down -> down = 0; printf("store    answers again\n") }
  :: atomic { stucks > 0 && SENT -> stucks--; stuck = 1; printf("store    never answers the %e\n", kind) }
  :: atomic { takes > 0 && cur != 0 && HELD(cur) ->
       takes--;
       if
       :: row[cur] = other; printf("store    gives worker ID %d to another holder\n", cur)
       :: row[cur] = free; printf("store    frees worker ID %d\n", cur)
       fi }
  :: atomic { locks > 0 && cur != 0 -> locks--; lock = cur; printf("store    the record of worker ID %d is locked\n", lock) }
  :: atomic { wrongs > 0 && cur != 0 -> wrongs--; wrong = 1; printf("clock    is wrong\n") }
#ifndef FOREVER
  :: atomic { lock != 0 -> lock = 0; printf("store    no record is locked\n") }
  :: atomic { wrong -> wrong = 0; printf("clock    is set right\n") }
#endif
  :: atomic { forgets > 0 ->
       forgets--; ahead = 1; printf("store    is put back\n");
       forget(1);
       if
       :: IDS > 1 -> forget(IDS)
       :: else
       fi }
  :: atomic { backs > 0 && has == current && !behind ->
       backs--; behind = 1; printf("clock    goes back\n");
#ifndef FOREVER
       if
       :: true
       :: stays = 1
       fi
#endif
     }
  :: atomic { behind && !stays -> behind = 0; printf("clock    has caught up\n") }
  :: atomic { closes > 0 && !OVER -> closes--; closing = 1; wake = 1; printf("caller   closes the lease\n") }
  od
}

/* The fence is reached if no renewal comes in time. */
#define OVERDUE (rfail || state == lost || !waits[1] && !wake && (kind == none || down || stuck))
#define SERVES (calls > 0 && (CAN || ASKS))

proctype Fence() {
  do
  :: atomic { room && OVERDUE && !SERVES -> room = 0; printf("time     the fence is reached\n") }
  :: atomic { has == before && !behind && !SERVES -> has = revoked; printf("time     the fence of the worker ID before is reached\n") }
  od
}

/* Delays: all that is due is done before one ends, so that nothing is put off for ever. The one
 * before the next renewal may be the longest, as long as ids can be issued. */
proctype Delay() {
  do
  :: atomic { kind == none && (waits[0] || waits[1] || waits[2]) ->
       if
       :: waits[1] = 0
       :: (waits[0] || waits[2]) && room && !rfail
       fi;
       waits[0] = 0; waits[2] = 0; wake = 1 }
  od
}

/* ---- the lease's goroutine ---- */

#ifdef LOST_NO_CLAIM
#define CLAIMING (state == acquiring || state == rotating || claims)
#else
#define CLAIMING (state == acquiring || state == rotating || state == lost || claims)
#endif
#ifdef ROTATING_NO_RENEWAL
#define RENEWING (state == held)
#elif defined(NO_RETRY)
#define RENEWING (!rfail && (state == held || state == rotating))
#else
#define RENEWING (state == held || state == rotating)
#endif
#define RELEASABLE(w) (leaving[w] && !(has == before && prev == w))

/* The worker ID that was claimed takes the place of the current one: lease.install. */
inline install(w) {
  if
  :: cur != 0 && cur != w && was != lost -> /* the one before is released when its generator has left it */
     leaving[cur] = 1;
     row[cur] = (row[cur] == mine -> left : row[cur]);
     prev = (has == current -> cur : prev);
     has = (has == current -> (evading -> revoked : before) : has)
  :: else -> has = (has == current -> revoked : has)
  fi;
  cur = w; room = 1; fault = 0; rfail = 0; cfail = 0; evading = 0; waits[0] = 0; waits[1] = 1;
  leaving[w] = 0;
  row[w] = (row[w] == pending -> mine : row[w])
}

active proctype Lease() {
  byte w;
  mtype k = none, a = none, was = none;

  do
  :: atomic { wake ->
       wake = 0;
       do
       :: event = none; was = state;
          if
          :: answer != none ->
             k = kind; a = answer; w = worker;
             kind = none; answer = none; worker = 0; avoid = 0; former = 0;
             if
             :: k == claim && a == ok -> /* lease.granted */
                claims = 0; copy = (copy == 1 -> 2 : copy);
                if
                :: (state == acquiring || state == lost || state == rotating && (!ahead || evading)) -> event = claimed
                :: else ->
#ifdef KEEP_UNWANTED
                   row[w] = (row[w] == pending -> stray : row[w]);
#else
                   row[w] = (row[w] == pending -> left : row[w]);
                   leaving[w] = 1; waits[2] = 0;
#endif
                   cfail = (state == rotating -> 1 : cfail);
                   waits[0] = (state == rotating -> 1 : waits[0]);
                   reply = (state == rotating && ask != none -> refusal : reply);
                   event = (state == rotating && !behind -> settled : none)
                fi
             :: k == claim && a != ok -> /* lease.failedClaim */
#ifdef SKEW_SETTLES
                if
                :: a == refused || a == skewed ->
#else
                if
                :: a == refused || a == skewed && !unknown ->
#endif
                   claims = 0; copy = (copy == 1 -> 2 : copy)
#ifdef NEW_CLAIM_ID
                :: a == failed -> claims = 0; copy = (copy == 1 -> 2 : copy)
#endif
                :: else -> unknown = 1
                fi;
                if
                :: !claims -> /* what was granted under its claim ID stays leased */
                   row[1] = (row[1] == pending -> stray : row[1]);
                   row[IDS] = (row[IDS] == pending -> stray : row[IDS])
                :: else
                fi;
                cfail = 1; waits[0] = 1;
                if
                :: state == acquiring && a != skewed
                :: state == acquiring -> closing = 1 /* Open gives up */
                :: state != acquiring && !OVER ->
                   fault = (state == lost -> 1 : fault);
                   reply = (ask != none -> refusal : reply);
                   event = (state == rotating && !evading && !behind -> settled : none)
                :: OVER
                fi
             :: k == renew && a == ok -> /* lease.renewed */
                rfail = 0; room = 1; fault = 0; waits[1] = 1;
                event = (evading -> settled : none); evading = 0
#ifdef FORGOTTEN_FAILS
             :: k == renew && a != ok ->
#else
             :: k == renew && a == gone -> event = taken /* lease.lose */
             :: k == renew && a != ok && a != gone -> /* lease.failedRenewal */
#endif
                rfail = 1; fault = 1; waits[1] = 1;
#ifndef NO_EVASION
                if
                :: a == locked && state == held -> evading = 1; event = wanted
                :: a == locked && state == held && room /* the fence is not near */
                :: else
                fi
#endif
             :: k == release && a == gone -> leaving[w] = 0
             :: k == release && a != gone -> waits[2] = 1
             fi;
             a = none
          :: answer == none && closing && !OVER -> event = closed
          :: answer == none && !closing && state == releasing && !claims && kind == none && !leaving[1] && !leaving[IDS] -> event = drained
          :: answer == none && !closing && ask != none && reply == none -> /* lease.answer */
             if
             :: OVER -> reply = refusal
             :: !OVER && has != current -> has = current; prev = 0; behind = 0; reply = grant
             :: !OVER && has == current && ask == grant -> reply = grant
             :: !OVER && has == current && ask == raise && STALLED -> reply = refusal
             :: !OVER && has == current && ask == raise && !STALLED && room -> reply = grant
             :: !OVER && has == current && ask == raise && !STALLED && !room -> waits[1] = 0
             :: !OVER && has == current && ask == another ->
                if
                :: cfail && (state == rotating || state == held && waits[0]) -> reply = refusal
                :: else -> event = (state == held -> wanted : none)
                fi
             fi
          :: else
          fi;

          /* The table of worker/lease.go; an event that has no line for a state does not change it. */
          if
          :: state == acquiring && event == claimed -> state = held
          :: state == acquiring && event == closed -> state = releasing
          :: state == held && event == wanted -> state = rotating
          :: state == held && event == taken -> state = lost
          :: state == held && event == closed -> state = releasing
          :: state == rotating && event == claimed -> state = held
          :: state == rotating && event == settled -> state = held
          :: state == rotating && event == taken -> state = lost
          :: state == rotating && event == closed -> state = releasing
          :: state == lost && event == claimed -> state = held
          :: state == lost && event == closed -> state = releasing
          :: state == releasing && event == drained -> state = ended
          :: else -> event = none
          fi;

          /* What is done upon it. */
          if
          :: event == none
          :: else -> printf("lease    %e: %e\n", event, state)
          fi;
          if
          :: event == claimed -> install(w); printf("lease    has worker ID %d\n", w)
          :: event == wanted -> cfail = 0; waits[0] = 0
          :: event == taken -> rfail = 0; cfail = 0; evading = 0; waits[0] = 0; waits[1] = 0; fault = 0
          :: event == closed -> /* lease.close */
             if
             :: cur != 0 && was != lost -> leaving[cur] = 1; row[cur] = (row[cur] == mine -> left : row[cur])
             :: else
             fi;
             if
             :: kind == renew -> kind = none; worker = 0; stuck = 0 /* it is cancelled */
             :: else
             fi;
             closing = 0; has = none; cur = 0; prev = 0; room = 0; fault = 0; behind = 0; stays = 0; rfail = 0; cfail = 0; evading = 0;
             waits[0] = 0; waits[1] = 0; waits[2] = 0;
             reply = (ask != none && reply == none -> refusal : reply)
          :: else
          fi;
          w = 0;
          if
          :: k == none && event == none -> break /* nothing more has happened */
          :: else -> k = none
          fi
       od;
       was = none;

       /* lease.due: the next request, unless one is under way. */
       if
       :: kind == none && CLAIMING && !waits[0] ->
          if
          :: !claims -> /* otherwise it is repeated as it was */
             claims = 1; unknown = 0;
             except = (state == rotating -> cur : 0);
#ifndef NO_FORMER
             own = (state == rotating -> 0 : cur)
#endif
          :: else
          fi;
          kind = claim; avoid = except; former = own; printf("lease    sends a claim (%e)\n", state)
       :: kind == none && RENEWING && !waits[1] -> kind = renew; worker = cur; printf("lease    sends a renewal\n")
       :: kind == none && (RELEASABLE(1) || RELEASABLE(IDS)) && !waits[2] ->
          kind = release; worker = (RELEASABLE(1) -> 1 : IDS); printf("lease    sends a release of %d\n", worker)
       :: else
       fi }
  od
}

/* ---- calls for ids ---- */

proctype Caller() {
  bit asked;

  do
  :: atomic { state != acquiring && !OVER && CONNECTION && !(POOL > 0 && overtaken && SENT) ->
       calls++; overtaken = POOL > 0 && SENT; printf("caller   calls\n") };
     do
     :: atomic { CAN && !asked -> got++; printf("caller   gets an id\n") }; break
     :: atomic { OVER && !asked -> break }
     :: atomic { asked && reply != none -> /* the lease has answered */
          asked = 0; ask = none;
          if
          :: reply == refusal -> reply = none; printf("caller   fails: the lease has refused\n"); break
          :: else -> reply = none
          fi }
     :: atomic { REFUSED && !asked -> printf("caller   fails at once, at the fence\n"); break }
     :: atomic { ask == none && !OVER && (has == none || has == revoked) ->
          ask = grant; asked = 1; wake = 1; printf("caller   asks the lease: for a grant\n") }
     :: atomic { ask == none && !OVER && behind && (has == current || has == before) ->
          ask = another; asked = 1; wake = 1; printf("caller   asks the lease: for another worker ID\n") }
     :: atomic { ask == none && ATFENCE && WAITING -> /* MaxWait is over */
#ifdef WAIT_IN_TRANSACTION
          printf("caller   gives up, at the fence\n"); break }
#else
          ask = raise; asked = 1; wake = 1; printf("caller   asks the lease: for a higher fence\n") }
#endif
     :: atomic { WAITING && (asked || ask != none || ATFENCE) -> /* MaxWait is over, or the context */
#ifdef CALLER_CANCELS
          if
          :: asked && ask == another && kind == claim -> kind = none; avoid = 0; former = 0; stuck = 0; wake = 1
          :: else
          fi;
#endif
          ask = (asked -> none : ask); asked = 0;
          printf("caller   gives up\n");
          break }
     od;
     atomic { calls--; got = (got > 0 -> got - 1 : 0) }
  od
}

init {
  byte p;
  atomic {
    run Store(); run Time(); run World(); run Fence(); run Delay();
    do :: p < CALLERS -> run Caller(); p++ :: else -> break od;
    wake = 1
  }
}
