/* Worker IDs under leases, on a store that forgets: is one tick of a worker ID ever issued under two claims?
 *
 * README.md says which function each action stands for, and what is assumed. model_test.go checks this file with
 * each of the switches below.
 *
 * Sizes: one worker ID, HOLDERS at a time, the true time is 0..T in ticks, the fence window W, clocks that differ by
 * EPS, CLAIMS in all. The store is put back FORGETS times; an operator acts OPERATES times. Two holders may be two
 * processes, or one that goes from one claim to the next.
 *
 * Mutations, each of which must give a counterexample:
 *   NO_FLOOR, LOW_FLOOR     the floor is not raised; it is raised by W
 *   NOT_NESTED              it is raised from the clock, not from the last floor
 *   NO_SEEN                 a record that is missing is not noticed
 *   LOW_SINCE               a floor that is ahead of the clock says nothing about holders (OPERATES)
 *   NO_GRACE                a claim is over at its fence, not EPS after it
 *   NOT_STRICT              fences are compared by >= where it is >, in a claim and in a renewal
 *   RENEW_EXPIRED           a lease is renewed whose fence had passed when the incarnation was recorded
 *   UNBOUNDED               a fence is W beyond the holder's clock, whatever the store's shows
 *   OWN_CLOCK               a claim starts at its clock, not at the last fence
 *   FREE_AT_ONCE            what an operator frees is claimed at once
 *   COUNT_TOKEN             the fencing token is a count
 *   REPLAY                  an answer is repeated from W before the fence on
 *   RENEW_UNGUARDED         a renewal takes effect whoever holds the worker ID
 *   RENEW_BY_CLAIM          a renewal is guarded by its claim ID and not by the fencing token
 *   RAISE_EARLY             the holder raises its fence before the store has acknowledged
 *   RELEASE_EARLY           the worker ID is released before the grant is closed
 *   RELEASE_LOW             it is released one tick below what was issued
 *   RELEASE_UNGUARDED       a release takes effect whoever holds the worker ID
 * Assumptions given up, which must give one as well:
 *   RETURNS                 the server that comes back has the incarnation that is recorded in what it has
 *   SPLIT                   a server that was succeeded acknowledges a renewal
 *   TWO_WINDOWS             one holder's W is larger than that of the namespace
 *   FORGETS_FLOOR           a floor that is ahead of the clock is forgotten
 *   CLONE                   a holder's memory is copied once
 * Instead of all this:
 *   NAIVE                   a time to live, and holders that go by their own clocks
 *   PAUSE, SLOW=n           with NAIVE: holders may stand still; one clock is n ticks slow
 */
#ifndef HOLDERS
#define HOLDERS 2
#endif
#ifndef T
#define T 4
#endif
#ifndef W
#define W 1
#endif
#ifndef EPS
#define EPS 1
#endif
#ifndef CLAIMS
#define CLAIMS 3
#endif
#ifndef FORGETS
#define FORGETS 1
#endif
#ifndef OPERATES
#define OPERATES 0
#endif
#ifndef SLOW
#define SLOW 0
#endif

#define STEP (W + EPS)
#define TICKS (T + EPS + 3 * STEP + 2 * W + 2)
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* Which claim has issued in a tick; 0: none has. The property, and the only thing that is checked, is the assertion
 * below. It asks for more than unique ids: whatever the sequence, two claims have no tick in common. */
byte issued[TICKS];
byte now; /* the true time */

inline issue(at, by) {
  printf("         an id: tick %d, of claim %d\n", at, by);
  assert(issued[at] == 0 || issued[at] == by);
  issued[at] = by
}

#ifdef NAIVE
/* The store's clock is the true time: the best case. The fence is gone, and the token is here only to tell the
 * holders apart. */
byte row_token, row_expires;
bit row_held;

#define CLOCK(p) ((p) == 1 -> ((now) > SLOW -> (now) - SLOW : 0) : (now))

active proctype Time() {
  do
  :: atomic { now < T - 1 -> now++; printf("time     is %d\n", now) }
  :: now == T - 1 -> break
  od
}

proctype Holder(byte me) {
  byte token, deadline, c;
  bit checked;

  do
  :: atomic { token == 0 && row_token < CLAIMS && (!row_held || row_expires <= now) ->
       row_token++; row_held = 1; row_expires = now + 2;
       token = row_token; deadline = CLOCK(me) + 2;
       printf("holder %d claims the worker ID: token %d, to live until %d\n", me, token, row_expires) }
  :: atomic { token != 0 && row_token == token && row_expires > now && row_expires != now + 2 ->
       row_expires = now + 2; deadline = CLOCK(me) + 2;
       printf("holder %d renews token %d, to live until %d\n", me, token, row_expires) }
#ifdef PAUSE
  :: atomic { token != 0 && !checked && CLOCK(me) < deadline ->
       checked = 1; printf("holder %d finds by its clock, %d, that token %d lives until %d, and is paused\n", me, CLOCK(me), token, deadline) }
  :: atomic { checked ->
       checked = 0; c = CLOCK(me);
       printf("holder %d continues, its clock shows %d\n", me, c); issue(c, token); c = 0 }
#else
  :: atomic { token != 0 && CLOCK(me) < deadline ->
       c = CLOCK(me);
       printf("holder %d finds by its clock, %d, that token %d lives until %d\n", me, c, token, deadline); issue(c, token); c = 0 }
#endif
  :: token != 0 && !checked && CLOCK(me) >= deadline -> break
  :: now == T - 1 -> break
  od
}

init {
  byte p;
  atomic { do :: p < HOLDERS -> run Holder(p); p++ :: else -> break od }
}

#else

/* What the store keeps: a record, and of the namespace the incarnation, since, floor, and whether there was a record. */
#define MISSING 0
#define FREE 1  /* unused, or released */
#define HELD 2
#define FREED 3 /* by an operator */
byte status, claim, token, start, fence;
byte incarnation, since, floor;
bit seen;
/* An earlier state, to which it may be put back. */
bit saved;
byte was_status, was_claim, was_token, was_start, was_fence, was_incarnation, was_since, was_floor;
bit was_seen;

byte life;     /* of the server: its incarnation */
byte operated;

/* What was ever sent, by claim ID. Whatever was sent may take effect now, later, again, or never. */
byte claims;                   /* so many were sent */
byte former[CLAIMS + 1];       /* the claim that the claimant had before; 0: none */
byte token_of[CLAIMS + 1];     /* what was answered; 0: nothing */
byte returned[CLAIMS + 1];     /* 1 + the first unused tick, when the grant was closed; 0: it is not */
bit releases[CLAIMS + 1];      /* a release was sent */

/* The holders' memory. */
byte attempt[HOLDERS];         /* claim ID under way; 0: none */
byte held[HOLDERS];            /* claim ID of the grant; 0: none */
byte from[HOLDERS], until[HOLDERS]; /* its ticks: from here to before its fence */
byte last[HOLDERS];            /* the claim ID of the grant before */
#ifdef CLONE
bit cloned;
#endif

byte clock, h, c, x, f; /* these are 0 between actions */
bit ok;

/* The store's clock, when it serves a request: servers' clocks differ by EPS, and so may one at two times. */
inline read_clock() { select(clock : now .. now + EPS) }

#ifdef LOW_FLOOR
#define RISE W
#else
#define RISE STEP
#endif

inline record_incarnation() {
  x = MAX(floor, clock);
#ifdef LOW_SINCE
  since = clock;
#else
  since = x;
#endif
#ifdef NOT_NESTED
  x = clock;
#endif
#ifndef NO_FLOOR
  floor = x + RISE;
#endif
  incarnation = life; seen = (status != MISSING); x = 0;
  printf("store    records incarnation %d since %d, the floor is %d\n", incarnation, since, floor)
}

#ifdef NO_SEEN
#define FORGOT (incarnation != life)
#else
#define FORGOT (incarnation != life || status == MISSING && seen)
#endif
#ifdef NO_GRACE
#define PASSED (fence < clock)
#else
#ifdef NOT_STRICT
#define PASSED (fence + EPS <= clock)
#else
#define PASSED (fence + EPS < clock)
#endif
#endif
#ifdef FREE_AT_ONCE
#define FREEABLE (status == FREED)
#else
#define FREEABLE 0
#endif
#define OWN(c) (former[c] != 0 && status == HELD && claim == former[c] && token == token_of[former[c]])
#ifdef TWO_WINDOWS
#define WINDOW(c) ((c) == 1 -> W + 2 : W)
#else
#define WINDOW(c) W
#endif

/* Claim c. If ok, f is where it starts. */
inline serve_claim() {
  read_clock();
  if
  :: status == HELD && claim == c -> /* it is answered again */
#ifdef REPLAY
     f = (fence > W -> fence - W : 0);
#else
     f = start;
#endif
     ok = 1
  :: else ->
     if
     :: FORGOT && floor <= clock + STEP -> record_incarnation()
     :: else
     fi;
     if
     :: !FORGOT && (status == MISSING || status == FREE || PASSED || FREEABLE || OWN(c)) ->
        x = (OWN(c) -> returned[former[c]] - 1 : fence);
#ifdef OWN_CLOCK
        x = 0;
#endif
        select(f : (clock > EPS -> clock - EPS : 0) .. clock); /* the claimant's clock, if it is behind */
        f = MAX(f, MAX(x, floor));
        x = MAX(clock, floor) + WINDOW(c);
#ifdef UNBOUNDED
        x = f + W + 2;
#endif
        if
        :: f < x ->
#ifdef COUNT_TOKEN
           token = token + 1;
#else
           token = MAX(token + 1, f);
#endif
           status = HELD; claim = c; start = f; fence = x; seen = 1; ok = 1;
           printf("store    gives the worker ID to claim %d, token %d, ticks %d to %d (clock %d)\n", c, token, start, fence - 1, clock)
        :: else -> f = 0
        fi; x = 0
     :: else
     fi
  fi; clock = 0
}

#if defined(RENEW_UNGUARDED)
#define RENEWS(c) (status == HELD)
#elif defined(RENEW_BY_CLAIM)
#define RENEWS(c) (status == HELD && claim == (c))
#else
#define RENEWS(c) (status == HELD && claim == (c) && token == token_of[c])
#endif
#ifdef RELEASE_UNGUARDED
#define RELEASES(c) (status == HELD && token < 5) /* or claims that are late would be granted for ever */
#else
#define RELEASES(c) (status == HELD && claim == (c) && token == token_of[c])
#endif
#ifdef NOT_STRICT
#define LATER(a, b) ((a) >= (b))
#else
#define LATER(a, b) ((a) > (b))
#endif

/* The renewal of claim c. If ok, f is the fence. */
inline serve_renewal() {
  read_clock();
  if
  :: RENEWS(c) && incarnation != life && floor <= clock + STEP -> record_incarnation()
  :: else
  fi;
  if
#ifdef RENEW_EXPIRED
  :: RENEWS(c) ->
#else
  :: RENEWS(c) && (incarnation == life -> LATER(fence, since) : LATER(fence, floor)) ->
#endif
     fence = MAX(fence, MAX(clock, floor) + WINDOW(c)); f = fence; ok = 1;
     printf("store    renews claim %d, its fence is %d (clock %d)\n", c, fence, clock)
  :: else
  fi; clock = 0
}

/* A grant is closed at x: until then, its holder has issued in each tick from its start on. When it did does not
 * matter: another claim must never issue in one of these ticks. */
inline close_grant() {
  select(x : from[h] .. until[h]);
  returned[held[h]] = 1 + x;
  printf("holder %d closes claim %d at %d\n", h, held[h], x);
  do
  :: f < x - from[h] -> issue(from[h] + f, held[h]); f++
  :: else -> break
  od; f = 0; x = 0;
#ifdef RELEASE_LOW
  if :: returned[held[h]] > 1 + from[h] -> returned[held[h]]-- :: else fi;
#endif
  last[h] = held[h]; held[h] = 0; until[h] = 0; from[h] = 0
}

/* One action after the other, in any order. */
active proctype World() {
  do
  :: atomic { now < T -> now++; printf("time     is %d\n", now) }

  :: atomic { claims < CLAIMS -> /* a holder sends a claim */
       select(h : 0 .. HOLDERS - 1);
       if
       :: held[h] == 0 && attempt[h] == 0 ->
          claims++; attempt[h] = claims;
          if :: former[claims] = last[h] :: true fi;
          printf("holder %d sends claim %d, its former one is %d\n", h, claims, former[claims])
       :: else
       fi; h = 0 }

  :: atomic { /* its answer arrives, perhaps that to a repeated one */
       select(h : 0 .. HOLDERS - 1); c = attempt[h];
       if
       :: c != 0 ->
          serve_claim();
          if
          :: ok ->
             held[h] = c; attempt[h] = 0; token_of[c] = token; from[h] = f; until[h] = fence;
             printf("holder %d gets claim %d, ticks %d to %d\n", h, c, f, fence - 1)
          :: else
          fi
       :: else
       fi; ok = 0; f = 0; c = 0; h = 0 }

  :: atomic { claims > 0 -> /* one that is late or doubled, or whose answer is lost */
       select(c : 1 .. claims); serve_claim(); ok = 0; f = 0; c = 0 }

  :: atomic { /* a renewal */
       select(h : 0 .. HOLDERS - 1); c = held[h];
       if
       :: c != 0 ->
#ifdef RAISE_EARLY
          until[h] = MAX(until[h], now + W);
#endif
          serve_renewal();
          if :: ok -> until[h] = MAX(until[h], f) :: else fi
       :: else
       fi; ok = 0; f = 0; c = 0; h = 0 }

  :: atomic { claims > 0 -> /* one that is late, or whose answer is lost */
       select(c : 1 .. claims);
       if
       :: token_of[c] != 0 -> serve_renewal()
       :: else
       fi; ok = 0; f = 0; c = 0 }

  :: atomic { /* a grant is closed, for a release or the next claim, or by a crash */
       select(h : 0 .. HOLDERS - 1);
       if
       :: held[h] != 0 ->
#ifdef RELEASE_EARLY
          if
          :: !releases[held[h]] -> releases[held[h]] = 1; returned[held[h]] = 1 + from[h]
          :: else -> close_grant()
          fi
#else
          if :: releases[held[h]] = 1 :: true fi;
          close_grant()
#endif
       :: else
       fi; h = 0 }

  :: atomic { claims > 0 -> /* a release, perhaps late */
       select(c : 1 .. claims);
       if
       :: releases[c] && RELEASES(c) ->
          status = FREE; fence = returned[c] - 1;
          printf("store    releases claim %d, the fence is %d\n", c, fence)
       :: else
       fi; c = 0 }

  :: atomic { attempt[0] != 0 -> attempt[0] = 0 } /* a holder crashes before the answer */

  :: atomic { !saved && life < FORGETS -> /* this state is one that it may be put back to */
       saved = 1; was_status = status; was_claim = claim; was_token = token; was_start = start; was_fence = fence;
       was_incarnation = incarnation; was_since = since; was_floor = floor; was_seen = seen }

  :: atomic { saved && life < FORGETS -> /* it is: the record, or the namespace, or both */
       if
       :: status = was_status; claim = was_claim; token = was_token; start = was_start; fence = was_fence
       :: true
       fi;
       if
#ifdef FORGETS_FLOOR
       :: true ->
#else
       :: floor <= now || was_floor >= floor ->
#endif
          incarnation = was_incarnation; since = was_since; floor = was_floor; seen = was_seen
       :: true
       fi;
       saved = 0; was_status = 0; was_claim = 0; was_token = 0; was_start = 0; was_fence = 0;
       was_incarnation = 0; was_since = 0; was_floor = 0; was_seen = 0;
       life++;
#ifdef RETURNS
       life--; /* it calls itself as before */
#endif
       printf("store    is put back: claim %d, token %d, ticks %d to %d, status %d; incarnation %d, floor %d\n", claim, token, start, fence - 1, status, incarnation, floor) }

#ifdef SPLIT
  :: atomic { life > 0 -> /* the server before still renews */
       select(h : 0 .. HOLDERS - 1);
       if
       :: held[h] != 0 -> until[h] = MAX(until[h], now + EPS + W); printf("holder %d is renewed by the old server, until %d\n", h, until[h])
       :: else
       fi; h = 0 }
#endif

#if OPERATES > 0
  :: atomic { operated < OPERATES && status == HELD -> /* an operator frees the worker ID, or deletes its record */
       operated++;
       if
       :: status = FREED; printf("operator frees the worker ID\n")
       :: status = MISSING; claim = 0; token = 0; start = 0; fence = 0; printf("operator deletes the record\n")
       fi }
#endif

#ifdef CLONE
  :: atomic { !cloned && held[0] != 0 && held[1] == 0 && attempt[1] == 0 ->
       cloned = 1; claims = CLAIMS;
       held[1] = CLAIMS + 1; until[1] = until[0]; from[1] = from[0];
       printf("holder 1 is a copy of holder 0\n") }
#endif
  od
}
#endif
