/* Worker numbers under leases: is one tick of one number ever issued by two holders?
 *
 * README.md says which function each action stands for, and what is assumed.
 * model_test.go checks this file with each of the switches below.
 *
 * Sizes: HOLDERS at a time, NUMBERS they claim, time 0..T-1 in ticks, spans of W
 * ticks, MAXEPOCH claims of one number and MAXTOKEN attempts to claim, in all. Two
 * holders may be two processes, or one process that goes from one number to another
 * and has both for a while: they share nothing.
 *
 * Mutations, each of which must give a counterexample:
 *   RENEW_UNGUARDED    a renewal takes effect whoever holds the number
 *   RENEW_BY_TOKEN     a renewal is guarded by its token and not by the epoch
 *   RAISE_EARLY        the holder raises its bound before the store has acknowledged
 *   OWN_CLOCK          a claim begins at the claimant's clock, not at the recorded bound
 *   RELEASE_EARLY      the number is released before the generator's run is closed
 *   RELEASE_LOW        it is released one tick below what was issued
 *   RELEASE_UNGUARDED  a release takes effect whoever holds the number
 * Assumptions given up, which must give one as well:
 *   LOSSY              the store forgets acknowledged writes once
 *   CLONE              a holder's memory is copied once
 * Instead of the fence:
 *   NAIVE              a time to live, and holders that go by their own clocks
 *   PAUSE, SLOW=n      with NAIVE: holders may stand still; one clock is n ticks slow
 */
#ifndef HOLDERS
#define HOLDERS 2
#endif
#ifndef NUMBERS
#define NUMBERS 1
#endif
#ifndef T
#define T 4
#endif
#ifndef W
#define W 2
#endif
#ifndef MAXEPOCH
#define MAXEPOCH 3
#endif
#ifndef MAXTOKEN
#define MAXTOKEN 3
#endif
#ifndef SLOW
#define SLOW 0
#endif

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define MIN(a, b) ((a) < (b) -> (a) : (b))

/* Which claim has issued in a tick of a number; 0: none has. The property, and the
 * only thing that is checked, is the assertion below. It asks for more than unique
 * ids: whatever the sequence, two claims have no tick in common. */
byte issued[NUMBERS * T];

inline issue(num, at, by) {
  printf("         an id: number %d, tick %d, of claim %d\n", num, at, by);
  assert(issued[num * T + at] == 0 || issued[num * T + at] == by);
  issued[num * T + at] = by
}

#ifdef NAIVE
/* The store's clock is the true time: the best case. The fence is gone, and the
 * epoch is here only to tell the holders apart. */
byte now;
byte row_epoch, row_expires;
bit row_held;

#define CLOCK(p) ((p) == 1 -> ((now) > SLOW -> (now) - SLOW : 0) : (now))

active proctype Time() {
  do
  :: atomic { now < T - 1 -> now++; printf("time     is %d\n", now) }
  :: now == T - 1 -> break
  od
}

proctype Holder(byte me) {
  byte epoch, deadline, t;
  bit checked;

  do
  :: atomic { epoch == 0 && row_epoch < MAXEPOCH && (!row_held || row_expires <= now) ->
       row_epoch++; row_held = 1; row_expires = now + W;
       epoch = row_epoch; deadline = CLOCK(me) + W;
       printf("holder %d claims the number: epoch %d, to live until %d\n", me, epoch, row_expires) }
  :: atomic { epoch != 0 && row_epoch == epoch && row_expires > now && row_expires != now + W ->
       row_expires = now + W; deadline = CLOCK(me) + W;
       printf("holder %d renews epoch %d, to live until %d\n", me, epoch, row_expires) }
#ifdef PAUSE
  :: atomic { epoch != 0 && !checked && CLOCK(me) < deadline ->
       checked = 1; printf("holder %d finds by its clock, %d, that epoch %d lives until %d, and is paused\n", me, CLOCK(me), epoch, deadline) }
  :: atomic { checked ->
       checked = 0; t = CLOCK(me);
       printf("holder %d goes on, its clock shows %d\n", me, t); issue(0, t, epoch); t = 0 }
#else
  :: atomic { epoch != 0 && CLOCK(me) < deadline ->
       t = CLOCK(me);
       printf("holder %d finds by its clock, %d, that epoch %d lives until %d\n", me, t, epoch, deadline); issue(0, t, epoch); t = 0 }
#endif
  :: epoch != 0 && !checked && CLOCK(me) >= deadline -> break
  :: now == T - 1 -> break
  od
}

init {
  byte p;
  atomic { do :: p < HOLDERS -> run Holder(p); p++ :: else -> break od }
}

#else

/* The store: a row for each number. Each change of it is one compare-and-set.
 * There is no time to live: a number may be taken at any moment. */
byte row_token[NUMBERS];  /* 0: free */
byte row_epoch[NUMBERS];
byte row_until[NUMBERS];

/* What was ever sent, by claim. Whatever was sent may take effect now, later,
 * again, or never. Lost answers are those that no one receives. */
#define CLAIM(number, epoch) ((number) * MAXEPOCH + (epoch) - 1)
byte token_of[NUMBERS * MAXEPOCH];
byte asked[NUMBERS * MAXEPOCH];     /* the highest bound that a renewal has asked for */
byte acked[NUMBERS * MAXEPOCH];     /* the highest that was acknowledged */
byte returned[NUMBERS * MAXEPOCH];  /* 1 + the bound in the release; 0: none was sent */
byte tokens;                        /* so many were made */

/* The holders' memory. A word is the place of the next id: two a tick, then the
 * next tick is borrowed, as far as the bound lets it. */
#define PERTICK 2
byte attempt[HOLDERS];  /* token of the claim under way; 0: none */
bit open[HOLDERS];      /* there is a grant, and its run is not closed */
byte number[HOLDERS];
byte token[HOLDERS];    /* no two claims have the same */
byte epoch[HOLDERS];
byte until[HOLDERS];
byte word[HOLDERS];
byte taking[HOLDERS];   /* 1 + a place that was found to lie below the bound, not yet issued */
#ifdef CLONE
bit cloned;
#endif
#ifdef LOSSY
bit lost_writes;
byte old_token[NUMBERS], old_epoch[NUMBERS], old_until[NUMBERS];
#endif

#define UNUSED(h) ((word[h] + PERTICK - 1) / PERTICK)

/* Any clock shows anything at any time: it steps, stalls, runs fast. */
inline clock(c) { select(c : 0 .. T - 1) }

inline forget(h) {
  open[h] = 0; number[h] = 0; token[h] = 0; epoch[h] = 0; until[h] = 0; word[h] = 0; taking[h] = 0
}

/* What the store does with a claim: w is the number it chose. A number that the
 * token has already is given again, unchanged. */
inline claim(by, w, c, from) {
  if
  :: row_token[w] == by -> from = row_until[w] - W
  :: else ->
#ifdef OWN_CLOCK
     from = c;
#else
     from = MAX(row_until[w], c);
#endif
     row_epoch[w]++;
     row_token[w] = by;
     row_until[w] = MAX(row_until[w], from + W);
     token_of[CLAIM(w, row_epoch[w])] = by
  fi
}

/* A claim fits if time does not run out and the model has an epoch left. */
#define FITS(by, w, c) (row_token[w] == (by) || row_epoch[w] < MAXEPOCH && MAX(row_until[w], c) + W <= T)

#define HOLDS(w, e) (row_token[w] == token_of[CLAIM(w, e)] && row_epoch[w] == (e))
#if defined(RENEW_UNGUARDED)
#define RENEWS(w, e) (row_token[w] != 0)
#elif defined(RENEW_BY_TOKEN)
#define RENEWS(w, e) (row_token[w] == token_of[CLAIM(w, e)])
#else
#define RENEWS(w, e) HOLDS(w, e)
#endif
#ifdef RELEASE_UNGUARDED
#define RELEASES(w, e) (row_token[w] != 0)
#else
#define RELEASES(w, e) HOLDS(w, e)
#endif

#define MINE CLAIM(number[h], epoch[h])

proctype Holder(byte h) {
  byte c, w, from;

  do
  :: atomic { !open[h] && attempt[h] == 0 && tokens < MAXTOKEN -> /* a claim begins, also beside a number that is held */
       tokens++; attempt[h] = tokens }

  :: atomic { attempt[h] != 0 -> /* it takes effect and its answer arrives; see Network for one that is lost */
       clock(c); select(w : 0 .. NUMBERS - 1);
       if
       :: FITS(attempt[h], w, c) ->
          claim(attempt[h], w, c, from);
          token[h] = attempt[h]; attempt[h] = 0; open[h] = 1;
          number[h] = w; epoch[h] = row_epoch[w]; until[h] = from + W; word[h] = from * PERTICK;
          printf("holder %d gets number %d by claim %d, epoch %d, ticks %d to %d (its clock: %d)\n", h, w, token[h], epoch[h], from, until[h] - 1, c)
       :: else
       fi; c = 0; w = 0; from = 0 }

  :: atomic { open[h] && taking[h] == 0 && word[h] / PERTICK < until[h] -> /* issue: the clock and the bound are read ... */
       clock(c);
       if
       :: c < until[h] ->
          taking[h] = 1 + MAX(word[h], c * PERTICK);
          printf("holder %d reads its clock, %d, and finds tick %d below its bound, %d\n", h, c, (taking[h] - 1) / PERTICK, until[h])
       :: else
       fi; c = 0 }

  :: atomic { open[h] && taking[h] != 0 -> /* ... and any time later the word is swapped, unless the run was closed */
       printf("holder %d issues\n", h);
       c = (taking[h] - 1) / PERTICK;
       issue(number[h], c, token[h]);
       word[h] = taking[h]; taking[h] = 0; c = 0 }

  :: atomic { open[h] && asked[MINE] < T -> /* a renewal is sent */
       clock(c);
       if
       :: MIN(c + W, T) > MAX(asked[MINE], until[h]) ->
          asked[MINE] = MIN(c + W, T);
          printf("holder %d asks for the bound %d for epoch %d\n", h, asked[MINE], epoch[h]);
#ifdef RAISE_EARLY
          until[h] = asked[MINE]
#endif
       :: else
       fi; c = 0 }

  :: atomic { open[h] && acked[MINE] > until[h] -> /* its answer arrives: only now the bound is raised */
       until[h] = acked[MINE];
       printf("holder %d raises its bound of epoch %d to %d\n", h, epoch[h], until[h]) }

  :: atomic { open[h] && returned[MINE] == 0 -> /* the run is closed, and a release is sent */
       returned[MINE] = 1 + UNUSED(h);
#ifdef RELEASE_LOW
       if
       :: UNUSED(h) > 0 && issued[number[h] * T + UNUSED(h) - 1] == token[h] -> returned[MINE]--
       :: else
       fi;
#endif
       printf("holder %d releases number %d of epoch %d from tick %d on\n", h, number[h], epoch[h], returned[MINE] - 1);
#ifndef RELEASE_EARLY
       forget(h)
#endif
     }

  :: atomic { open[h] -> /* a crash, or a number given up that nobody could be told of */
       printf("holder %d forgets number %d of epoch %d\n", h, number[h], epoch[h]);
       forget(h) }

  :: atomic { attempt[h] != 0 -> attempt[h] = 0 }
  od
}

/* Everything that was sent may take effect at any time, and again. */
proctype Network() {
  byte x, c, w, e, from;

  do
  :: atomic { tokens > 0 -> /* a claim whose answer is lost, or that comes late or twice */
       select(x : 1 .. tokens); clock(c); select(w : 0 .. NUMBERS - 1);
       if
       :: row_token[w] != x && FITS(x, w, c) ->
          claim(x, w, c, from);
          printf("store    gives number %d, epoch %d, to who is not listening\n", w, row_epoch[w])
       :: else
       fi; x = 0; c = 0; w = 0; from = 0 }

  :: atomic { /* a renewal */
       select(w : 0 .. NUMBERS - 1); select(e : 1 .. MAXEPOCH);
       if
       :: asked[CLAIM(w, e)] != 0 && RENEWS(w, e) ->
          select(x : 1 .. asked[CLAIM(w, e)]);
          row_until[w] = MAX(row_until[w], x);
          acked[CLAIM(w, e)] = MAX(acked[CLAIM(w, e)], x);
          printf("store    renews number %d for epoch %d, its bound is now %d\n", w, e, row_until[w])
       :: else
       fi; x = 0; w = 0; e = 0 }

  :: atomic { /* a release */
       select(w : 0 .. NUMBERS - 1); select(e : 1 .. MAXEPOCH);
       if
       :: returned[CLAIM(w, e)] != 0 && RELEASES(w, e) ->
          row_token[w] = 0; row_until[w] = returned[CLAIM(w, e)] - 1;
          printf("store    frees number %d for epoch %d, its bound is now %d\n", w, e, row_until[w])
       :: else
       fi; w = 0; e = 0 }

  :: atomic { /* an operator frees a number; its holder does not know */
       select(w : 0 .. NUMBERS - 1);
       if
       :: row_token[w] != 0 -> row_token[w] = 0; printf("operator frees number %d\n", w)
       :: else
       fi; w = 0 }

#ifdef LOSSY
  :: atomic { !lost_writes -> /* a replica catches up with one row */
       select(w : 0 .. NUMBERS - 1);
       old_token[w] = row_token[w]; old_epoch[w] = row_epoch[w]; old_until[w] = row_until[w]; w = 0 }
  :: atomic { !lost_writes -> /* and takes the store's place */
       lost_writes = 1;
       do
       :: w < NUMBERS -> row_token[w] = old_token[w]; row_epoch[w] = old_epoch[w]; row_until[w] = old_until[w]; w++
       :: else -> break
       od; w = 0;
       printf("store    has lost its last writes\n") }
#endif
#ifdef CLONE
  :: atomic { !cloned && open[0] && !open[1] ->
       cloned = 1;
       open[1] = 1; number[1] = number[0]; token[1] = MAXTOKEN + 1; epoch[1] = epoch[0]; until[1] = until[0]; word[1] = word[0]; taking[1] = taking[0];
       printf("holder 1 is a copy of holder 0\n") }
#endif
  od
}

init {
  byte p;
  atomic {
    do :: p < HOLDERS -> run Holder(p); p++ :: else -> break od;
    run Network()
  }
}
#endif
