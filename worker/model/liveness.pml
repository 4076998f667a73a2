/* Ids that never stop: does a generator that is asked for ids get one again?
 *
 * One lease with the states of worker/lease.go, its generator, the calls for ids, and a store. README.md
 * says which function each action stands for, and what is assumed; model_test.go checks this file with
 * each of the switches below. Safety is lease.pml's: here no id has a number or a time.
 *
 * Time is in no counter. What takes time may take any: a delay, an answer, a caller's patience. Three
 * rules keep that apart from what cannot be: a request times out only where the store fails, hangs, or has
 * no connection for it; a caller gives up only while nothing else can be done at once; and the fence is not
 * reached while renewals succeed, nor while a call can be issued an id.
 *
 * IDS is the number of worker IDs, 1 or 2. MAY says what may happen, each at most once, as in MAY=OUTAGE+BACK. With POOL=1,
 * two callers instead of one ask, each with the one connection that a request to the store needs too. MUTANT breaks one
 * thing: that must give a cycle without an id, or a closed lease that holds something. */
#define OUTAGE 1  /* requests are refused, carried out without an answer, or arrive late */
#define STUCK 2   /* a request is never answered */
#define LOSE 4    /* the answer to a claim is lost */
#define TAKE 8    /* another holder takes the worker ID, or its claim expires */
#define LOCK 16   /* somebody else locks its record */
#define FORGET 32 /* the store is put back to what it was before */
#define WRONG 64  /* our clock is wrong */
#define BACK 128  /* it goes back, and the policy is Rotate */
#define CLOSE 256 /* the lease is closed, or Open is cancelled */
#define FOREVER 512 /* a record may stay locked, and the clock wrong, but then it is not behind for ever */
#define KEPT 1024   /* leases never expire (Config.NoExpiry) */
#define TWICE 2048  /* all of this, and then again */
#define NO_RETRY             1 /* a renewal that has failed is not made again */
#define NO_TIMEOUT           2 /* a request is waited for however long it takes */
#define CALLER_CANCELS       3 /* a claim lasts only as long as the caller waits who wants another worker ID */
#define WAIT_IN_TRANSACTION  4 /* a call waits at the fence although renewals are known to fail */
#define LOST_NO_CLAIM        5 /* no other worker ID is claimed after a loss */
#define ROTATING_NO_RENEWAL  6 /* the worker ID is not renewed while another one is claimed */
#define NO_EVASION           7 /* no other worker ID is claimed while the record is locked */
#define FORGOTTEN_FAILS      8 /* a renewal that is answered "forgotten" has failed, and is repeated */
#define NO_FORMER            9 /* a lease may not claim the worker ID again that it had before */
#define NEW_CLAIM_ID        10 /* a claim that was not answered is repeated with another claim ID */
#define SKEW_SETTLES        11 /* the answer that the clock is wrong settles a claim that was not answered before */
#define KEEP_UNWANTED       12 /* a claim that is granted too late is not released */
#define DRAINED_EARLY       13 /* a closed lease ends although a claim is pending */
#define KEEP_FORGOTTEN      14 /* a claim that never expires, and that the store has forgotten in part, is not released */
#ifndef MUTANT
#define MUTANT 0
#endif
#define IS(x) (MUTANT == x)
#ifndef MAY
#define MAY 0
#endif
#ifndef IDS
#define IDS 2
#endif
#ifndef POOL
#define POOL 0
#endif

mtype = { none,
  acquiring, held, rotating, blocked, lost, releasing, ended,            /* states, as in worker/lease.go */
  claimed, wanted, stopped, settled, taken, closed, drained,             /* events */
  claim, renewal, release,                                               /* requests, */
  ok, gone, locked, refused, skewed, failed,                             /* what they come to, */
  another, grant, raise, refusal,                                        /* what a caller asks of the lease, and the answer */
  free, other, mine, left, pending, past, stray, /* whose a worker ID is: another holder's, the current one, to be released, of
     the claim that is pending, of one that may not be renewed any more, of one that the lease does not know of */
  current, before, revoked }                     /* what the generator has: the current worker ID, the one before, or neither */

/* The store, and the world. */
mtype row[IDS + 1] = free;   /* from 1 on */
bit down, wrong, ahead;      /* the store fails; our clock is wrong; the floor is ahead of the clock */
byte lock;                   /* the worker ID whose record is locked */
byte copy;                   /* of a claim that may yet arrive: 1 of the pending one, 2 of an earlier one */
short may = MAY & 511;      /* what may yet happen */

/* The request under way, and what it is about: a worker ID, or, of a claim, what it excludes and the one that it had. */
mtype kind = none, answer = none;
byte worker, avoid, former;
bit stuck;

/* The lease's memory. */
mtype state = acquiring, event = none;
byte cur, prev;              /* worker IDs: the current one, and one that the generator has yet to leave */
bit leaving[IDS + 1];        /* to be released */
bit claims, unknown;         /* a claim is pending; an attempt at it was not answered */
byte except, own;            /* what it asks for, as in avoid and former */
bit closing, wake;
bit room, fault;             /* ids can be issued below the fence; it is known not to rise */
bit cfail, rfail;            /* the last claim, the last renewal has failed */
bit waits[3];                /* delays: of claims, renewals, releases */

/* The generator, and the calls for ids. */
mtype has = none, ask = none, reply = none;
bit behind, stays;           /* the clock went back; and stays so until the worker ID is another */
bit overtaken;               /* a call got a connection before the request that waits for one */
byte calls, got;

#define OVER (state == releasing || state == ended)
#define HELD(w) (row[w] == mine || row[w] == left)
#define OURS(w) (HELD(w) || row[w] == pending || row[w] == stray || row[w] == past && (MAY & KEPT))
#define STALLED (state == lost -> cfail : rfail)
#define CAN ((has == current && room || has == before) && !behind && !OVER)
#define ATFENCE (has == current && !room && !behind && !OVER)
#define REFUSED (ATFENCE && fault && !IS(WAIT_IN_TRANSACTION))
#define ASKS (ask == none && !OVER && (has == none || has == revoked || behind)) /* at once */
#define WAITING (!wake && !CAN && !REFUSED && !ASKS && !OVER && reply == none)   /* and so time passes */
#define SENT (kind != none && answer == none)
#define CONNECTION (POOL == 0 || calls < POOL)

/* Ids come again and again, or the lease was closed and holds nothing. */
#define issued (got > 0)
#define closedAndFree (state == ended && !OURS(1) && !OURS(IDS))
ltl live { ([]<> issued) || (<>[] closedAndFree) }

/* ---- the store ---- */

#define GIVES(w) (avoid != w && lock != w && (row[w] == free || row[w] == past && former == w))

inline reply_(a) { answer = a; overtaken = 0; wake = 1; printf("store    %e: %e\n", kind, answer) }

proctype Store() {
  mtype result = none;
  byte w;
  do
  :: atomic { SENT && !stuck && CONNECTION && (!down || POOL == 0) -> /* it is carried out */
       if
       :: kind == claim && wrong -> result = skewed
       :: kind == claim && !wrong && row[1] == pending -> w = 1 /* found again by its claim ID */
       :: kind == claim && !wrong && row[1] != pending && row[IDS] == pending -> w = IDS
       :: kind == claim && !wrong && row[1] != pending && row[IDS] != pending ->
          if
          :: GIVES(1) -> w = 1
          :: GIVES(IDS) -> w = IDS
          :: ahead || !GIVES(1) && !GIVES(IDS) -> result = refused
          fi
       :: kind != claim && lock == worker -> result = locked
       :: kind == renewal && lock != worker -> result = (HELD(worker) -> ok : gone)
       :: kind == release && lock != worker -> result = gone; row[worker] = (row[worker] == left || row[worker] == past -> free : row[worker])
       fi;
       if
       :: w != 0 -> result = ok; row[w] = pending
       :: else
       fi;
       if
       :: !down -> worker = (w != 0 -> w : worker); reply_(result)
       :: down -> reply_(failed)
       :: (may & LOSE) && kind == claim -> may = may - LOSE; reply_(failed)
       fi;
       w = 0; result = none }
  :: atomic { SENT && !stuck && down -> reply_(failed) }
  :: atomic { SENT && !stuck && down && POOL == 0 && kind == claim && copy == 0 -> copy = 1; reply_(failed) }
  :: atomic { SENT && stuck && !IS(NO_TIMEOUT) -> stuck = 0; reply_(failed) }
  :: atomic { SENT && !stuck && !CONNECTION && WAITING -> reply_(failed) } /* no connection within Timeout */
  od
}

/* What comes with time: claims expire, the floor is reached, the copy of a claim arrives. */
#define EXPIRES(w) (row[w] == other || row[w] == past && !(MAY & KEPT))
#define ARRIVES(w) (row[w] == free && lock != w && except != w && row[1] != pending && row[IDS] != pending)

proctype Time() {
  do
  :: atomic { EXPIRES(1) -> row[1] = free }
  :: atomic { EXPIRES(IDS) -> row[IDS] = free }
  :: ahead -> ahead = 0
  :: atomic { copy > 0 && !down && ARRIVES(1) -> row[1] = (copy == 1 -> pending : other); copy = 0 }
  :: atomic { copy > 0 && !down && ARRIVES(IDS) -> row[IDS] = (copy == 1 -> pending : other); copy = 0 }
  :: copy > 0 -> copy = 0
  :: state == ended /* it passes */
  od
}

inline forget(w) { /* a record is as it was before */
  if
  :: true
  :: row[w] == free -> row[w] = other
  :: OURS(w) -> row[w] = free
  :: OURS(w) -> row[w] = other
  :: HELD(w) -> row[w] = past
  fi
}

#define MAYBE(fault) (may & fault) -> may = may - fault

proctype World() {
  bit again;
  do
  :: may == 0 && (MAY & TWICE) && !again -> again = 1; may = MAY & 511
  :: atomic { !down && MAYBE(OUTAGE); down = 1; printf("store    fails from now on\n") }
  :: atomic { down -> down = 0; printf("store    answers again\n") }
  :: atomic { SENT && MAYBE(STUCK); stuck = 1; printf("store    never answers the %e\n", kind) }
  :: atomic { HELD(cur) && MAYBE(TAKE); row[cur] = other; printf("store    gives worker ID %d to another holder\n", cur) }
  :: atomic { HELD(cur) && MAYBE(TAKE); row[cur] = free; printf("store    frees worker ID %d\n", cur) }
  :: atomic { cur != 0 && MAYBE(LOCK); lock = cur; printf("store    the record of worker ID %d is locked\n", lock) }
  :: atomic { MAYBE(FORGET); ahead = 1; forget(1); forget(IDS); printf("store    is put back: %e, %e\n", row[1], row[IDS]) }
  :: atomic { cur != 0 && MAYBE(WRONG); wrong = 1; printf("clock    is wrong\n") }
  :: atomic { lock != 0 && !(MAY & FOREVER) -> lock = 0; printf("store    the record is not locked any more\n") }
  :: atomic { wrong && !(MAY & FOREVER) -> wrong = 0; printf("clock    is set right\n") }
  :: atomic { has == current && MAYBE(BACK); behind = 1; stays = !(MAY & FOREVER); printf("clock    goes back, and stays\n") }
  :: atomic { has == current && MAYBE(BACK); behind = 1; printf("clock    goes back\n") }
  :: atomic { behind && !stays -> behind = 0; printf("clock    has caught up\n") }
  :: atomic { !OVER && MAYBE(CLOSE); closing = 1; wake = 1; printf("caller   closes the lease\n") }
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

/* All that is due is done before a delay ends, so that nothing is put off for ever. The delay before the next renewal
 * may be the longest, as long as ids can be issued. */
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

#define CLAIMING (state == acquiring || state == rotating || state == blocked || state == lost && !IS(LOST_NO_CLAIM) || claims && state != ended)
#define RENEWING (state == held && !(rfail && IS(NO_RETRY)) || (state == rotating || state == blocked) && !IS(ROTATING_NO_RENEWAL))
#define RELEASABLE(w) (leaving[w] && !(has == before && prev == w))
#define USED (state == acquiring || state == lost || state == blocked || state == rotating && !ahead) /* a claim that is granted */
#define SETTLES (a == ok || a == refused || a == skewed && (!unknown || IS(SKEW_SETTLES)) || a == failed && IS(NEW_CLAIM_ID))
#define LOSES (a == gone && !IS(FORGOTTEN_FAILS))
#define RELEASES_LOST ((MAY & KEPT) && was == lost && !IS(KEEP_FORGOTTEN))
#define EVADES (a == locked && state == held && !IS(NO_EVASION))

inline install(w) { /* the worker ID that was claimed takes the place of the current one */
  if
  :: cur != 0 && cur != w && was != lost -> /* which is released when its generator has left it */
     leaving[cur] = 1; row[cur] = (row[cur] == mine -> left : row[cur]); prev = (has == current -> cur : prev);
     has = (has == current -> (was == blocked -> revoked : before) : has)
  :: else -> has = (has == current -> revoked : has); leaving[cur] = (cur != 0 && RELEASES_LOST -> 1 : leaving[cur])
  fi;
  cur = w; room = 1; fault = 0; rfail = 0; cfail = 0; waits[0] = 0; waits[1] = 1;
  leaving[w] = 0; row[w] = (row[w] == left -> mine : row[w]); printf("lease    has worker ID %d\n", w)
}

inline unheard(w) { row[w] = (row[w] != pending -> row[w] : (a == ok || a == refused -> other : stray)) }

active proctype Lease() {
  byte w;
  mtype k = none, a = none, was = none;
  do
  :: atomic { wake ->
       wake = 0;
       do
       :: event = none; was = state; k = (answer != none -> kind : none);
          if
          :: k != none ->
             a = answer; w = worker; kind = none; answer = none; worker = 0; avoid = 0; former = 0;
             if
             :: k == claim && SETTLES -> /* what else was granted under its claim ID, nobody knows of: that to a late copy, it expires */
                claims = 0; copy = (copy == 1 -> 2 : copy); row[w] = (row[w] == pending -> left : row[w]);
                unheard(1); unheard(IDS)
             :: k == claim && !SETTLES -> unknown = 1
             :: else
             fi;
             if
             :: k == claim && a == ok && USED -> event = claimed
             :: k == claim && a == ok && !USED && IS(KEEP_UNWANTED) -> row[w] = (row[w] == left -> stray : row[w])
             :: k == claim && a == ok && !USED && !IS(KEEP_UNWANTED) -> leaving[w] = 1; waits[2] = 0
             :: k == claim && a != ok && state == acquiring -> closing = 1 /* Open gives up */
             :: k == claim && a != ok && a != skewed && state == acquiring
             :: k == claim && a != ok && state == lost -> fault = 1
             :: k == claim && a != ok && state != acquiring && state != lost
             :: k == renewal && a == ok -> rfail = 0; room = 1; fault = 0; waits[1] = 1; event = (state == blocked -> settled : none)
             :: k == renewal && a != ok && LOSES -> event = taken
             :: k == renewal && a != ok && !LOSES && (room || !EVADES) -> rfail = 1; fault = 1; waits[1] = 1
             :: k == renewal && EVADES -> rfail = 1; fault = 1; waits[1] = 1; event = stopped /* the fence is near */
             :: k == release -> leaving[w] = (a != gone); waits[2] = (a != gone)
             fi;
             if
             :: k == claim && event == none && !OVER -> /* it has failed, or was granted in vain */
                cfail = 1; waits[0] = 1; reply = (ask != none -> refusal : reply);
                event = (state == rotating && !behind -> settled : none)
             :: else
             fi
          :: k == none && closing && !OVER -> event = closed
          :: k == none && !closing && state == releasing && kind == none && (!claims || IS(DRAINED_EARLY)) && !leaving[1] && !leaving[IDS] -> event = drained
          :: k == none && !closing && ask != none && reply == none -> /* a caller asks */
             if
             :: OVER -> reply = refusal
             :: !OVER && has != current -> has = current; prev = 0; behind = 0; stays = 0; reply = grant
             :: !OVER && has == current && ask == grant -> reply = grant
             :: !OVER && has == current && ask == raise ->
                reply = (STALLED -> refusal : (room -> grant : none)); waits[1] = waits[1] && reply != none
             :: !OVER && has == current && ask == another && cfail && (state != held || waits[0]) -> reply = refusal
             :: else -> event = (state == held -> wanted : none)
             fi
          :: else
          fi;

          /* All changes of state; an event that has no line for a state does not change it. */
          if
          :: state == acquiring && event == claimed -> state = held
          :: state == acquiring && event == closed -> state = releasing
          :: state == held && event == wanted -> state = rotating
          :: state == held && event == stopped -> state = blocked
          :: state == held && event == taken -> state = lost
          :: state == held && event == closed -> state = releasing
          :: state == rotating && event == claimed -> state = held
          :: state == rotating && event == settled -> state = held
          :: state == rotating && event == taken -> state = lost
          :: state == rotating && event == closed -> state = releasing
          :: state == blocked && event == claimed -> state = held
          :: state == blocked && event == settled -> state = held
          :: state == blocked && event == taken -> state = lost
          :: state == blocked && event == closed -> state = releasing
          :: state == lost && event == claimed -> state = held
          :: state == lost && event == closed -> state = releasing
          :: state == releasing && event == drained -> state = ended
          :: else -> event = none
          fi;

          if
          :: event == none && k == none -> break
          :: event == none && k != none
          :: event != none -> printf("lease    %e: %e\n", event, state)
          fi;
          if
          :: event == claimed -> install(w)
          :: event == wanted -> cfail = 0; waits[0] = 0
          :: event == taken -> rfail = 0; cfail = 0; waits[0] = 0; waits[1] = 0; fault = 0
          :: event == closed ->
             leaving[cur] = (cur != 0 && (was != lost || RELEASES_LOST) -> 1 : leaving[cur]); row[cur] = (row[cur] == mine && was != lost -> left : row[cur]);
             worker = (kind == renewal -> 0 : worker); stuck = (kind == renewal -> 0 : stuck); kind = (kind == renewal -> none : kind);
             closing = 0; has = none; cur = 0; prev = 0; room = 0; fault = 0; behind = 0; stays = 0; rfail = 0; cfail = 0;
             waits[0] = 0; waits[1] = 0; waits[2] = 0; reply = (ask != none && reply == none -> refusal : reply)
          :: else
          fi;
          w = 0; a = none
       od;
       was = none;

       if /* the next request, unless one is under way */
       :: kind == none && CLAIMING && !waits[0] ->
          if
          :: claims /* it is repeated as it was */
          :: !claims -> claims = 1; unknown = 0; except = (state == rotating || state == blocked -> cur : 0); own = (state == rotating || state == blocked || IS(NO_FORMER) -> 0 : cur)
          fi;
          kind = claim; avoid = except; former = own; printf("lease    sends a claim (%e)\n", state)
       :: kind == none && RENEWING && !waits[1] -> kind = renewal; worker = cur; printf("lease    sends a renewal\n")
       :: kind == none && (RELEASABLE(1) || RELEASABLE(IDS)) && !waits[2] ->
          kind = release; worker = (RELEASABLE(1) -> 1 : IDS); printf("lease    sends a release of worker ID %d\n", worker)
       :: else
       fi }
  od
}

/* ---- calls for ids ---- */

inline asks(what) { ask = what; asked = 1; wake = 1; printf("caller   asks the lease: %e\n", ask) }

proctype Caller() {
  bit asked;
  do
  :: atomic { state != acquiring && !OVER && CONNECTION && !(POOL > 0 && overtaken && SENT) ->
       calls++; overtaken = POOL > 0 && SENT; printf("caller   calls\n") };
     do
     :: atomic { CAN && !asked -> got++; printf("caller   gets an id\n") }; break
     :: OVER && !asked -> break
     :: atomic { asked && reply == grant -> asked = 0; ask = none; reply = none }
     :: atomic { asked && reply == refusal -> asked = 0; ask = none; reply = none; printf("caller   fails: the lease has refused\n"); break }
     :: atomic { REFUSED && !asked -> printf("caller   fails at once, at the fence\n"); break }
     :: atomic { ask == none && !OVER && (has == none || has == revoked) -> asks(grant) }
     :: atomic { ask == none && !OVER && behind && (has == current || has == before) -> asks(another) }
     :: atomic { ask == none && ATFENCE && WAITING && !IS(WAIT_IN_TRANSACTION) -> asks(raise) } /* MaxWait is over */
     :: atomic { WAITING && asked && ask == another && kind == claim && IS(CALLER_CANCELS) ->
          ask = none; asked = 0; kind = none; avoid = 0; former = 0; wake = 1; printf("caller   gives up, and cancels the claim\n"); break }
     :: atomic { WAITING && (asked || ask != none || ATFENCE) -> /* MaxWait is over, or the context */
          ask = (asked -> none : ask); asked = 0; printf("caller   gives up\n"); break }
     od;
     atomic { calls--; got = (got > 0 -> got - 1 : 0) }
  od
}

init {
  atomic {
    run Store(); run Time(); run World(); run Fence(); run Delay(); run Caller();
    if
    :: POOL > 0 -> run Caller()
    :: else
    fi;
    wake = 1
  }
}
