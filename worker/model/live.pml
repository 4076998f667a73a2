/* Ids that never stop: does a generator that is asked for ids get one again?
 *
 * One lease, its generator, the calls for ids, and a store. README.md says which function
 * each action stands for, and what is assumed; model_test.go checks this file with each of the
 * switches below. Safety is lease.pml's: here no id has a number or a time.
 *
 * Time is in no counter. What takes time may take any: a delay, an answer, a caller's
 * patience. Three rules keep that apart from what cannot be: a request times out only
 * where the store fails, hangs, or has no connection for it; a caller gives up only while
 * nothing else can be done at once; and the fence is not reached while a call can be issued an id.
 *
 * Sizes: IDS worker IDs, CALLERS that ask again and again, POOL connections that they hold
 * while they ask, and that a request to the store needs one of (0: it has its own). What
 * may happen, and how often: OUTAGES, STUCK (a request is never answered), LOSES (the answer
 * to a claim is lost), TAKES (another holder takes a worker ID), LEAPS and BACKS of the clock,
 * CLOSES of the lease. With FOREVER a clock that has leapt may stay wrong for ever.
 *
 * The design before, which must give a cycle without an id:
 *   CALLER_EXCHANGES      after a leap a caller releases and claims, as long as it waits itself
 *   ROTATE_UNDER_MAXWAIT  a caller claims another worker ID, as long as it waits itself
 *   WAIT_IN_TRANSACTION   a call waits at the fence although renewals are known to fail
 *   PATIENCE=n            with the first two: a caller waits for n answers, and may give up only then
 * Mutations, each of which must give one as well:
 *   NO_RETRY              a renewal that has failed is not made again
 *   ABANDONED_BLOCKS      no request is made beside one that was abandoned
 *   NO_TIMEOUT            a request is waited for however long it takes
 *   CHECKING_NO_RENEWAL   the worker ID is not renewed while the clock is checked
 *   LOST_NO_CLAIM         no other worker ID is claimed after a loss
 *   FORGET                a claim that is answered late is forgotten and not released
 *   NARROWS               a claim is repeated as the request that the state needs by then
 */
#ifndef IDS
#define IDS 2
#endif
#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef POOL
#define POOL 0
#endif
#ifndef OUTAGES
#define OUTAGES 1
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
#ifndef LEAPS
#define LEAPS 0
#endif
#ifndef BACKS
#define BACKS 0
#endif
#ifndef CLOSES
#define CLOSES 0
#endif
#ifndef PATIENCE
#define PATIENCE 0
#endif
#if defined(CALLER_EXCHANGES) || defined(ROTATE_UNDER_MAXWAIT)
#define OLD
#endif

mtype = { none,
  /* states, as in worker/lease.go */
  acquiring, held, checking, rotating, lost, releasing, ended,
  /* events */
  claimed, clockLeapt, clockBack, confirmed, asked, refused, unasked, taken, doubted, closed, drained,
  /* requests, and what they come to; noneFree and skewed are known to have granted nothing */
  claim, renew, release, ok, gone, noneFree, skewed, failed,
  /* what a caller asks of the lease, and the answer */
  another, grant, raise, refusal,
  /* whose a worker ID is: of another holder, the current one, to be released, of the token
     that is in use, of a request that has another token, and of nobody who knows */
  free, other, mine, left, pending, stale0, stale1, stray,
  /* what the generator has: the current worker ID, the one before, one that was revoked */
  current, before, revoked }

mtype state = acquiring, event = none;

/* The store, and the world. */
mtype row[IDS + 1] = free;   /* from 1 on */
bit down, ahead, wrong;      /* the store fails; our clock has leapt, and does not agree with the store's */

/* Requests under way: two at the most. What one is about is its worker ID: to be renewed
 * or released, the only one to be claimed (0: any), or the one that was claimed. */
mtype kind[2] = none, result[2] = none, answer[2] = none;
byte worker[2], avoid[2];
bit expired[2], late[2];     /* its time is over, and the owner has noticed */
bit slow[2], stuck[2];       /* its answer may take longer than Timeout, or never comes */
bit own[2];                  /* a renewal of the current worker ID */
bit old[2], twice[2];        /* a claim whose token is given up, or was granted to the other request */

/* The lease's memory. */
byte cur, prev;              /* worker IDs: the current one, and one that the generator has yet to leave */
bit leaving[IDS + 1];        /* to be released */
bit token;                   /* of a claim whose outcome is not known: */
byte only, except;           /* what it asks for, as in worker and avoid */
bit room, fault;             /* ids can be issued below the fence; it is known not to rise */
bit cfail, rfail, alternate; /* the last claim, the last renewal has failed; the claim was made last */
bit waits[3];                /* delays: 0 of claims, 1 of the renewal, 2 of releases */
bit wake, closing;
#ifdef OLD
bit given;                   /* a caller has released the current worker ID */
#endif

/* The generator, and the calls for ids. */
mtype has = none;
mtype ask = none, reply = none;
bit behind;                  /* the clock went back, and the policy is Rotate */
bit overtaken;               /* a call got a connection before the request that waits for one */
byte calls, got;
#if LOSES > 0
byte loses = LOSES;
#endif

#define OVER (state == releasing || state == ended)
#define OURS(w) (row[w] != free && row[w] != other)
#define HELD(w) (row[w] == mine || row[w] == left)
#define STALLED (state == lost -> cfail : rfail)
#ifdef CALLER_EXCHANGES
#define FENCED (!room || ahead) /* the generator follows the leap, to beyond the fence */
#else
#define FENCED (!room)
#endif
#define CAN (has == current && !FENCED && !behind && !OVER)
#define ATFENCE (has == current && FENCED && !behind && !OVER)
#if defined(WAIT_IN_TRANSACTION) || defined(OLD)
#define REFUSED false
#else
#define REFUSED (ATFENCE && fault)
#endif
#ifdef OLD
#define MOVES (has == current && (behind || ahead || given) && kind[0] != claim)
#define OLDCALLS true
#else
#define MOVES behind
#define OLDCALLS false
#endif
#define ASKS (ask == none && !OVER && (has == none || has == revoked || MOVES)) /* at once */
#define WAITING (!wake && !CAN && !REFUSED && !ASKS && !OVER && reply == none) /* and so time passes */
#define SENT(i) (kind[i] != none && answer[i] == none && !stuck[i])
#define WANTS(i) (SENT(i) && result[i] == none && !late[i])
#define CONNECTION (POOL == 0 || calls < POOL)

/* Ids come again and again, or the lease was closed and holds nothing. */
#define issued (got > 0)
#define closedAndFree (state == ended && !OURS(1) && !OURS(2) && !OURS(IDS))
ltl live { ([]<> issued) || (<>[] closedAndFree) }

inline done(i) {
  kind[i] = none; result[i] = none; answer[i] = none; worker[i] = 0; avoid[i] = 0; expired[i] = 0;
  late[i] = 0; slow[i] = 0; stuck[i] = 0; own[i] = 0; old[i] = 0; twice[i] = 0
}

/* ---- the store ---- */

#define FITS(w) (avoid[i] != (w) && (worker[i] == 0 || worker[i] == (w)))
#define GIVES(w) (row[w] == free && FITS(w))

proctype Request(byte i) {
  byte w;

  do
  :: atomic { SENT(i) && result[i] == none && CONNECTION && (!down || POOL == 0) -> /* it is carried out */
       if
       :: kind[i] == claim && twice[i] -> result[i] = ok
       :: kind[i] == claim && !twice[i] && wrong -> result[i] = skewed
       :: kind[i] == claim && !twice[i] && !wrong ->
          if
          :: !old[i] && row[1] == pending -> w = 1 /* found again by its token */
          :: !old[i] && row[2] == pending -> w = 2
          :: IDS > 2 && !old[i] && row[IDS] == pending -> w = IDS
          :: (old[i] || row[1] != pending && row[2] != pending && row[IDS] != pending) ->
             if
             :: GIVES(1) -> w = 1
             :: GIVES(2) -> w = 2
             :: IDS > 2 && GIVES(IDS) -> w = IDS
             :: else -> result[i] = noneFree
             fi
          fi;
          if
          :: w != 0 && !FITS(w) -> result[i] = failed /* found again, and does not match the request */
          :: w != 0 && FITS(w) ->
             result[i] = ok; worker[i] = w;
             row[w] = (!old[i] -> pending : (i == 0 -> stale0 : stale1))
          :: w == 0
          fi; w = 0
       :: kind[i] == renew -> result[i] = (own[i] && HELD(worker[i]) -> ok : gone)
       :: kind[i] == release ->
          result[i] = (row[worker[i]] == left -> ok : gone);
          if
          :: row[worker[i]] == left -> row[worker[i]] = free
          :: else
          fi
       fi;
       overtaken = 0;
       if
       :: !down -> answer[i] = result[i]; wake = 1; printf("store    answers request %d, %e: %e\n", i, kind[i], answer[i])
#if LOSES > 0
       :: loses > 0 && !down && kind[i] == claim ->
          loses--; answer[i] = failed; wake = 1; printf("store    carries out request %d, claim, and the answer is lost\n", i)
#endif
#if OUTAGES > 0 && POOL == 0
       :: down -> slow[i] = 1; printf("store    carries out request %d, %e, and does not answer yet\n", i, kind[i])
#endif
       fi }
#if OUTAGES > 0 && POOL == 0
  :: atomic { SENT(i) && result[i] != none && !down ->
       answer[i] = result[i]; wake = 1; printf("store    answers request %d, %e, late: %e\n", i, kind[i], answer[i]) }
#endif
#if OUTAGES > 0
  :: atomic { SENT(i) && down -> answer[i] = failed; wake = 1; printf("store    refuses request %d, %e\n", i, kind[i]) }
#endif
#if !defined(NO_TIMEOUT) && OUTAGES + STUCK > 0
  :: atomic { kind[i] != none && answer[i] == none && !expired[i] && (down || slow[i] || stuck[i]) ->
       expired[i] = 1; slow[i] = 1; wake = 1; printf("time     Timeout of request %d, %e\n", i, kind[i]) }
#endif
#if POOL > 0
  :: atomic { SENT(i) && result[i] == none && late[i] -> /* nor does it wait for one any longer */
       answer[i] = failed; wake = 1 }
  :: atomic { WANTS(i) && !CONNECTION && WAITING -> /* no connection within Timeout */
       answer[i] = failed; overtaken = 0; wake = 1; printf("time     Timeout of request %d, %e: there is no connection for it\n", i, kind[i]) }
#endif
  od
}

/* Another holder's worker ID comes free. */
proctype Other() {
  byte w = 1;

  do
  :: atomic { row[w] == other -> row[w] = free }
  :: atomic { row[w] != other -> w = (w == IDS -> 1 : w + 1) }
  od
}

/* What may happen, so often. */
proctype World() {
  byte outages = OUTAGES, stucks = STUCK, takes = TAKES, leaps = LEAPS, backs = BACKS, closes = CLOSES;
  bit stays;
  byte w;

  do
  :: atomic { outages > 0 && !down -> outages--; down = 1; printf("store    fails from now on\n") }
  :: atomic { down -> down = 0; printf("store    answers again\n") }
#if STUCK > 0
  :: atomic { stucks > 0 && SENT(0) -> stucks--; stuck[0] = 1; printf("store    never answers a request\n") }
  :: atomic { stucks > 0 && SENT(1) -> stucks--; stuck[1] = 1; printf("store    never answers a request\n") }
#endif
#if TAKES > 0
  :: atomic { takes > 0 && (HELD(1) || HELD(2) || HELD(IDS)) ->
       takes--;
       if
       :: HELD(1) -> w = 1
       :: HELD(2) -> w = 2
       :: IDS > 2 && HELD(IDS) -> w = IDS
       fi;
       if
       :: row[w] = other; printf("store    gives worker ID %d to another holder\n", w)
       :: row[w] = free; printf("store    frees worker ID %d, which has expired\n", w)
       fi; w = 0 }
#endif
#if LEAPS > 0
  :: atomic { leaps > 0 && cur != 0 && !ahead ->
       leaps--; ahead = 1; wake = 1;
       if
       :: printf("clock    leaps, as the store's has\n")
#ifndef OLD
       :: wrong = 1; printf("clock    leaps, and is wrong\n")
#endif
#ifdef FOREVER
       :: has != none -> wrong = 1; stays = 1; printf("clock    leaps, and stays wrong for ever\n")
#endif
       fi }
#ifndef OLD
  :: atomic { ahead && !stays -> ahead = 0; wrong = 0; wake = 1; printf("clock    is set back\n") }
#endif
#endif
#if BACKS > 0
  :: atomic { backs > 0 && has == current && !behind -> backs--; behind = 1; printf("clock    goes back\n") }
#endif
#if CLOSES > 0
  :: atomic { closes > 0 && !OVER -> closes--; closing = 1; wake = 1; printf("caller   closes the lease\n") }
#endif
  od
}

/* No renewal has come for longer than one that is due takes. */
#define ABSENT(i) (kind[i] == none || slow[i] || stuck[i])
#define OVERDUE (rfail || state == lost || !waits[1] && !wake && ABSENT(0) && ABSENT(1))

proctype Fence() {
  do
  :: atomic { room && OVERDUE && !(calls > 0 && (CAN || ASKS)) -> room = 0; printf("time     the fence is reached\n") }
  od
}

/* The delays of the renewal (1), and of claims and releases (0). The one after a renewal
 * is longer than all others, so a release is sent meanwhile. */
#define RELEASABLE(w) (leaving[w] && !(has == before && prev == w))
#define SOMETHING_RELEASABLE (RELEASABLE(1) || RELEASABLE(2) || RELEASABLE(IDS))

proctype Delay(byte i) {
  do
  :: atomic { (i == 0 && (waits[0] || waits[2]) || i == 1 && waits[1] && (rfail || !SOMETHING_RELEASABLE)) ->
       waits[i] = 0;
       if
       :: i == 0 -> waits[2] = 0
       :: else
       fi;
       wake = 1 }
  od
}

/* ---- the lease's owner ---- */

#ifdef OLD /* request 1 is the callers', and what is taken is lost */
#define TOKEN false
#define OWNERS(i) (i == 0)
#else
#define TOKEN (token == 1)
#define OWNERS(i) true
#endif
#if defined(OLD)
#define BUSY (kind[0] != none)
#elif defined(ABANDONED_BLOCKS)
#define BUSY (kind[0] != none || kind[1] != none)
#else
#define BUSY (kind[0] != none && !late[0] || kind[1] != none && !late[1] || kind[0] != none && kind[1] != none)
#endif
#ifdef LOST_NO_CLAIM
#define CLAIMS_WHEN_LOST false
#elif defined(OLD)
#define CLAIMS_WHEN_LOST (state == lost && ask != another)
#else
#define CLAIMS_WHEN_LOST (state == lost)
#endif
#define CLAIM_DUE (!waits[0] && (state == acquiring || state == checking || state == rotating || CLAIMS_WHEN_LOST || state == releasing && token))
#if defined(NO_RETRY)
#define RENEWAL_DUE (!waits[1] && !rfail && (state == held || state == checking || state == rotating))
#elif defined(CHECKING_NO_RENEWAL)
#define RENEWAL_DUE (!waits[1] && (state == held || state == rotating))
#else
#define RENEWAL_DUE (!waits[1] && (state == held || state == checking || state == rotating))
#endif

/* The worker ID that was claimed takes the place of the current one. */
inline replace(w) {
  own[0] = 0; own[1] = 0; rfail = 0; cfail = 0; waits[0] = 0; waits[1] = 1;
  if
  :: cur != 0 && cur != w && was != lost -> /* the one before is released when its generator has left it */
     leaving[cur] = 1;
     if
     :: row[cur] == mine -> row[cur] = left
     :: else
     fi;
     if
     :: has == current -> has = before; prev = cur
     :: else
     fi
  :: else ->
     if
     :: has == current -> has = revoked
     :: else
     fi
  fi;
  cur = w; room = 1; fault = 0;
#ifdef OLD
  given = 0;
#endif
  if
  :: !wrong -> ahead = 0
  :: else
  fi;
  leaving[w] = 0;
  if
  :: row[w] != other && row[w] != free -> row[w] = mine
  :: else
  fi
}

/* The request i may find nothing more by its token. */
inline giveUpToken(i) {
  token = 0;
  if
  :: kind[1 - i] == claim && !old[1 - i] && !twice[1 - i] -> old[1 - i] = 1; w = (i == 0 -> stale1 : stale0)
  :: else -> w = stray
  fi
}

active proctype Owner() {
  byte i, w, id;
  mtype k, a, was;
  bit wasLate;

  do
  :: atomic { wake ->
       wake = 0;
       do
       :: event = none; was = state;
          if
          :: answer[0] != none || expired[0] && !late[0] -> i = 0
          :: else ->
             if
             :: OWNERS(1) && (answer[1] != none || expired[1] && !late[1]) -> i = 1
             :: else -> i = 2
             fi
          fi;
          if
          :: i < 2 -> /* an answer, or none in time */
             k = kind[i]; id = worker[i]; wasLate = late[i]; a = answer[i];
             if
             :: a == none -> a = failed; late[i] = 1
             :: else
             fi;
             if
             :: k == claim && a == ok && !twice[i] -> /* granted */
                if
                :: !old[i] ->
                   token = 0;
                   if
                   :: kind[1 - i] == claim && !old[1 - i] -> /* the other request finds the same claim, or has a later one */
                      if
                      :: result[1 - i] == ok && worker[1 - i] != id ->
                         old[1 - i] = 1;
                         row[worker[1 - i]] = (row[worker[1 - i]] == pending -> (i == 0 -> stale1 : stale0) : row[worker[1 - i]])
                      :: else -> twice[1 - i] = 1
                      fi
                   :: else
                   fi
                :: else
                fi;
#ifdef FORGET
                if
                :: wasLate -> row[id] = (OURS(id) -> stray : row[id])
                :: else ->
#endif
                if
                :: id == cur && !OVER || state == acquiring || state == rotating || state == lost -> event = claimed
                :: else ->
                   leaving[id] = 1; waits[2] = 0;
                   row[id] = (OURS(id) -> left : row[id])
                fi
#ifdef FORGET
                fi
#endif
             :: k == claim && a == ok && twice[i]
             :: k == claim && a != ok && !wasLate ->
                if
                :: !old[i] && (a == noneFree || a == skewed) -> /* nothing was granted, it seems */
                   giveUpToken(i);
                   row[1] = (row[1] == pending -> w : row[1]);
                   row[2] = (row[2] == pending -> w : row[2]);
                   row[IDS] = (row[IDS] == pending -> w : row[IDS]);
                   w = 0
#ifdef FORGET
                :: late[i] && !old[i] -> giveUpToken(i); old[i] = 1; w = 0
#endif
                :: else
                fi;
                if
                :: a == noneFree && state == checking -> event = confirmed
                :: else ->
                   cfail = 1; waits[0] = 1;
                   if
                   :: state == acquiring && a == skewed -> closing = 1 /* Open gives up */
                   :: else -> event = (state == rotating && !behind -> unasked : refused)
                   fi
                fi
             :: k == claim && a != ok && wasLate
             :: k == renew && (OVER || !own[i] || a == failed && (wasLate || state == lost) || a == gone && state == lost)
             :: k == renew && own[i] && !OVER && a == ok ->
                rfail = 0; room = 1; fault = 0; waits[1] = 1
             :: k == renew && own[i] && !OVER && state != lost && (a == failed && !wasLate || a == gone && TOKEN) ->
                if
                :: a == gone -> event = doubted
                :: else
                fi;
                rfail = 1; fault = 1; waits[1] = 1
             :: k == renew && own[i] && !OVER && state != lost && a == gone && !TOKEN -> event = taken
             :: k == release && a != failed -> leaving[id] = 0
             :: k == release && a == failed && !wasLate -> waits[2] = 1
             :: k == release && a == failed && wasLate
             fi;
             if
             :: answer[i] != none -> done(i)
             :: else
             fi;
             k = none; a = none; wasLate = 0
          :: else ->
             if
             :: closing && !OVER -> event = closed
             :: else ->
                if
#ifndef CALLER_EXCHANGES
                :: ahead && state == held -> event = clockLeapt
                :: !ahead && state == checking && !token -> event = clockBack
#endif
                :: state == releasing && !token && !leaving[1] && !leaving[2] && !leaving[IDS] &&
                   (kind[0] == none || late[0]) && (kind[1] == none || late[1]) -> event = drained
                :: else ->
                   if
                   :: ask != none && reply == none && !(OLDCALLS && ask == another) ->
                      if
                      :: OVER -> reply = refusal
                      :: !OVER && (ask != another && has == none && state == checking && ahead) ->
                         reply = (cfail && waits[0] -> refusal : none)
                      :: !OVER && (ask != another && has == none && state == held && !room && !rfail) -> waits[1] = 0
                      :: !OVER && has != current && !(has == none && (state == checking && ahead || state == held && !room && !rfail)) ->
                         behind = (has == before -> 0 : behind);
                         has = current; prev = 0; fault = STALLED; reply = grant
                      :: !OVER && has == current && ask == raise ->
                         if
                         :: STALLED -> reply = refusal
                         :: !STALLED && room -> reply = grant
                         :: !STALLED && !room -> waits[1] = 0
                         fi
                      :: !OVER && has == current && ask == grant -> reply = grant
#ifndef OLD
                      :: !OVER && has == current && ask == another ->
                         if
                         :: cfail && (state == rotating || state == held && waits[0]) -> reply = refusal
                         :: !(cfail && (state == rotating || state == held && waits[0])) -> event = (state == rotating -> none : asked)
                         fi
#endif
                      fi
                   :: else
                   fi
                fi
             fi
          fi;

          /* The table of worker/lease.go; an event that has no line for a state does not change it. */
          if
          :: state == acquiring && event == claimed -> state = held
          :: state == acquiring && event == closed -> state = releasing
          :: state == held && event == clockLeapt -> state = checking
          :: state == held && event == doubted -> state = checking
          :: state == held && event == asked -> state = rotating
          :: state == held && event == taken -> state = lost
          :: state == held && event == claimed -> state = held
          :: state == held && event == closed -> state = releasing
          :: state == checking && event == confirmed -> state = held
          :: state == checking && event == claimed -> state = held
          :: state == checking && event == clockBack -> state = held
          :: state == checking && event == asked -> state = rotating
          :: state == checking && event == taken -> state = lost
          :: state == checking && event == closed -> state = releasing
          :: state == rotating && event == claimed -> state = held
          :: state == rotating && event == unasked -> state = held
          :: state == rotating && event == doubted -> state = checking
          :: state == rotating && event == taken -> state = lost
          :: state == rotating && event == closed -> state = releasing
          :: state == lost && event == claimed -> state = held
          :: state == lost && event == closed -> state = releasing
          :: state == releasing && event == drained -> state = ended
          :: else -> event = (event == refused -> refused : none)
          fi;

          if
          :: event != none && state != was -> printf("lease    %e: %e\n", event, state)
          :: else
          fi;

          /* What is done upon it. */
          if
          :: event == claimed -> replace(id); printf("lease    has worker ID %d\n", id)
          :: event == clockLeapt || event == asked -> cfail = 0; waits[0] = 0
          :: event == doubted -> waits[0] = 0
          :: event == confirmed -> cfail = 0; waits[0] = 0; waits[1] = 0; ahead = 0
          :: event == taken -> rfail = 0; cfail = 0; waits[0] = 0; waits[1] = 0; fault = 0; printf("lease    has lost worker ID %d\n", cur)
          :: event == refused || event == unasked ->
             fault = (was == lost -> 1 : fault);
             reply = (ask != none && reply == none -> refusal : reply)
          :: event == closed ->
             if
             :: cur != 0 && was != lost -> leaving[cur] = 1; row[cur] = (row[cur] == mine -> left : row[cur])
             :: else
             fi;
             closing = 0; has = none; cur = 0; prev = 0; room = 0; fault = 0; behind = 0; rfail = 0; own[0] = 0; own[1] = 0;
             late[0] = late[0] || kind[0] == renew; late[1] = late[1] || kind[1] == renew;
             waits[0] = 0; waits[1] = 0; waits[2] = 0;
             reply = (ask != none && reply == none -> refusal : reply)
          :: event == clockBack || event == drained
          :: event == none
          fi;
          id = 0;
          if
          :: i == 2 && event == none -> break /* nothing more has happened */
          :: else
          fi
       od;
       event = none; was = none; i = 0;

       /* The next request, unless one is under way, or two were abandoned. */
       if
       :: BUSY
       :: else ->
          i = (kind[0] == none -> 0 : 1);
          if
          :: CLAIM_DUE && !(RENEWAL_DUE && cfail && alternate) ->
             if
#ifdef NARROWS
             :: true ->
#else
             :: token -> /* it is repeated as it was */
             :: !token ->
#endif
                only = (state == checking -> cur : 0);
                except = (state == rotating -> cur : 0)
             fi;
             kind[i] = claim; token = 1; alternate = 1; worker[i] = only; avoid[i] = except
          :: RENEWAL_DUE && !(CLAIM_DUE && !(cfail && alternate)) ->
             kind[i] = renew; worker[i] = cur; own[i] = 1; alternate = 0
          :: else ->
             w = 1;
             do
             :: w <= IDS && RELEASABLE(w) && !waits[2] ->
                kind[i] = release; worker[i] = w; break
             :: w <= IDS && !(RELEASABLE(w) && !waits[2]) -> w++
             :: w > IDS -> break
             od;
             w = 0
          fi;
          if
          :: kind[i] != none -> printf("lease    sends request %d, %e (%e)\n", i, kind[i], state)
          :: else
          fi;
          i = 0
       fi }
  od
}

/* ---- calls for ids ---- */

proctype Caller() {
  bit asked_;
#ifdef OLD
  byte answers, w;
#endif

  do
  :: atomic { state != acquiring && !OVER && CONNECTION && !(POOL > 0 && overtaken && (WANTS(0) || WANTS(1))) ->
       calls++;
       overtaken = POOL > 0 && (WANTS(0) || WANTS(1)); printf("caller   calls\n") };
     do
     :: atomic { CAN && !asked_ -> got++; printf("caller   gets an id\n") }; break
     :: atomic { OVER && !asked_ -> break }
     :: atomic { asked_ && reply != none -> /* the lease has answered */
          asked_ = 0; ask = none;
          if
          :: reply == refusal -> reply = none; printf("caller   fails: the lease has refused\n"); break
          :: else -> reply = none
          fi }
     :: atomic { REFUSED && !asked_ -> printf("caller   fails at once, at the fence\n"); break } /* at once, with the cause */
     :: atomic { ask == none && !OVER && (has == none || has == revoked) -> ask = grant; asked_ = 1; wake = 1; printf("caller   asks the lease: for a grant\n") }
#ifndef OLD
     :: atomic { ask == none && !OVER && behind && (has == current || has == before) -> ask = another; asked_ = 1; wake = 1; printf("caller   asks the lease: for another worker ID\n") }
#endif
#ifdef OLD
     :: atomic { ASKS && MOVES -> /* it makes the requests itself */
          ask = another; asked_ = 1; answers = 0;
#ifdef CALLER_EXCHANGES
          if
          :: state != lost && !given ->
             kind[1] = release; worker[1] = cur; row[cur] = (row[cur] == mine -> left : row[cur]);
             printf("caller   releases worker ID %d\n", cur)
          :: else ->
#endif
             kind[1] = claim; token = 1; avoid[1] = (state == lost || given -> 0 : cur);
             printf("caller   claims another worker ID\n")
#ifdef CALLER_EXCHANGES
          fi
#endif
        }
     :: atomic { asked_ && ask == another && answer[1] != none ->
          answers++;
          if
          :: kind[1] == release && answer[1] != failed ->
             done(1); given = 1;
             kind[1] = claim; token = 1; printf("caller   claims a worker ID\n")
          :: kind[1] == claim && answer[1] == ok ->
             w = worker[1]; done(1);
             if
             :: w != cur && state != lost && !given -> leaving[cur] = 1; row[cur] = (row[cur] == mine -> left : row[cur])
             :: else
             fi;
             cur = w; row[w] = mine; leaving[w] = 0; token = 0; own[0] = 0; w = 0;
             state = held; given = 0; room = 1; fault = 0; rfail = 0; cfail = 0; behind = 0; ahead = 0; has = current;
             ask = none; asked_ = 0; waits[1] = 1; wake = 1;
             printf("caller   has worker ID %d\n", cur)
          :: else -> done(1); ask = none; asked_ = 0; answers = 0; printf("caller   fails\n"); break
          fi }
     :: atomic { asked_ && ask == another && answer[1] == none && answers >= PATIENCE && !wake -> /* MaxWait is over */
          done(1); ask = none; asked_ = 0; answers = 0; wake = 1; printf("caller   gives up, and cancels its request\n"); break }
#endif
#ifndef WAIT_IN_TRANSACTION
     :: atomic { ask == none && ATFENCE && WAITING -> ask = raise; asked_ = 1; wake = 1; printf("caller   asks the lease: for a higher fence\n") } /* MaxWait is over */
#endif
     :: atomic { WAITING && !(asked_ && ask == another && OLDCALLS) && (asked_ || ask != none || ATFENCE) -> /* MaxWait is over, or the context */
          if
          :: asked_ -> ask = none; asked_ = 0
          :: else
          fi;
          printf("caller   gives up\n");
          break }
     od;
     atomic { calls--; got = (got > 0 -> got - 1 : 0) }
  od
}

init {
  byte p;
  atomic {
    run Request(0); run Request(1); run Delay(0); run Delay(1); run Fence(); run World();
    if
    :: TAKES > 0 -> run Other()
    :: else
    fi;
    do :: p < CALLERS -> run Caller(); p++ :: else -> break od;
    wake = 1
  }
}
