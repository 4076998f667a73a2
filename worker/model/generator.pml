/*
 * The cursor and the floor of ddl.Generator in PostgreSQL: no slot is issued twice.
 *
 * Sessions take blocks of B slots from a sequence, the cursor. No block reaches further beyond the
 * clock, or the floor, than AHEAD. A crash loses what was written to sequences since the log was
 * flushed; a failover or a restore puts them back to what they were before, but does not forget a
 * floor that is ahead of the clock. Clients remember the ids that they have read. Both empty the
 * marker and raised, which are not logged. A call may be cancelled between any two statements, which
 * releases its lock, and keeps what it has written to sequences. A session may disconnect, which
 * loses its cache.
 *
 * Switches that break it: NO_LOCK, NO_FLUSH, NO_MARKER, LOW_FLOOR, RAISED_FIRST, NO_CAP, KEEP_UNLOCKED, STEP_BACK.
 */
#ifndef SLOTS
#define SLOTS 28
#endif
#ifndef TIME
#define TIME 4	/* the clock shows multiples of B up to that */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FORGETS
#define FORGETS 1
#endif
#ifndef CANCELS
#define CANCELS 1
#endif
#ifndef QUITS
#define QUITS 1
#endif
#define B 2	/* slots of a block; the last of them only says that the block is used up */
#define AHEAD 4	/* and by how much the floor rises */

bool issued[SLOTS];
byte now;

/* What the server has, what its flushed log says, and what a standby or a backup has. */
byte cursor = B - 1, floor, kept_cursor = B - 1, kept_floor, copy_cursor = B - 1, copy_floor;
bool marker = true, raised = true, locked, copied;
byte boot, crashes, forgets, cancels, quits;

inline lose() {
	boot++; locked = false;
#ifndef NO_MARKER
	marker = false; raised = false
#endif
}

active proctype server() {
end:	do
	:: d_step { now < TIME -> now = now + B }
	:: d_step { kept_cursor != cursor || kept_floor != floor -> kept_cursor = cursor; kept_floor = floor }
	:: d_step { FORGETS > 0 && !copied && kept_cursor >= B -> copied = true; copy_cursor = kept_cursor; copy_floor = kept_floor }
	:: d_step { crashes < CRASHES -> crashes++; cursor = kept_cursor; floor = kept_floor; lose() }
	:: d_step { forgets < FORGETS && (floor <= now || copy_floor == floor) ->
		forgets++; cursor = copy_cursor; floor = copy_floor; kept_cursor = cursor; kept_floor = floor; lose() }
	od
}

/* Before each statement: the server may have crashed, and the call may be cancelled. */
#if CANCELS > 0
#define STATEMENT \
	if \
	:: boot != mine -> goto connect \
	:: boot == mine && cancels < CANCELS -> cancels++; goto ended \
	:: boot == mine \
	fi
#else
#define STATEMENT \
	if \
	:: boot != mine -> goto connect \
	:: boot == mine \
	fi
#endif

active [2] proctype session() {
	byte mine, next, last;	/* the session's cache of the sequence: next to last, or nothing */
	byte first, top;
	bool holds;

connect:
	atomic { mine = boot; next = 1; last = 0; holds = false; first = 0; top = 0 }
ended:
	atomic {
		if
		:: holds && boot == mine -> locked = false
		:: else
		fi;
		holds = false; first = 0; top = 0 }
end:	do
	:: atomic { boot != mine -> goto connect }
	:: atomic { quits < QUITS -> quits++; goto connect }
	/* The next of the session's block. */
	:: d_step { boot == mine && next <= last && next % B < B - 1 ->
		assert(!issued[next]); issued[next] = true; next++ }
	/* Nothing is left, so nextval begins a block, without the lock; the same expression drains it. */
	:: d_step { boot == mine && next > last && cursor + B < SLOTS ->
#ifdef KEEP_UNLOCKED
		next = cursor + 1; last = cursor + B;
#endif
		cursor = cursor + B }
	:: break
	od;

	atomic { boot != mine || !locked ->
		if
		:: boot != mine -> goto connect
		:: else
#ifndef NO_LOCK
			-> locked = true; holds = true
#endif
		fi }
	STATEMENT;
	/* Something may be forgotten. */
	if
	:: !marker ->
		if
		:: !raised ->
#ifdef RAISED_FIRST
			atomic { STATEMENT; raised = true }
#endif
			atomic { STATEMENT;
				if
				:: floor > now + AHEAD -> goto ended
				:: else
				fi;
#ifdef LOW_FLOOR
				floor = (floor > now -> floor : now)
#else
				floor = (floor > now -> floor : now) + AHEAD
#endif
				}
			atomic { STATEMENT; raised = true }
		:: raised
		fi;
		atomic { STATEMENT;
			if
			:: floor > cursor -> cursor = floor
			:: else
			fi;
			cursor = cursor - cursor % B + B - 1 }
#ifndef NO_FLUSH
		atomic { boot != mine || kept_floor == floor -> STATEMENT }
#endif
		atomic { STATEMENT; marker = true }
	:: marker
	fi;
	atomic { STATEMENT; first = cursor + 1;
		if
		:: now > first -> first = now
		:: else
		fi;
		first = (first + B - 1) / B * B;
		top = (floor > now -> floor : now) + AHEAD;
#ifdef NO_CAP
		top = SLOTS;
#endif
		top = (top < SLOTS -> top : SLOTS) }
	if
	:: first + B <= top ->
		/* setval, which also empties the session's cache; it does not look where the cursor is. */
		atomic { STATEMENT;
#ifdef STEP_BACK
			first = first - B;
#endif
			cursor = first - 1; next = 1; last = 0 }
		atomic { STATEMENT; first = cursor + 1; cursor = cursor + B;
			if
			:: first + B <= top -> assert(!issued[first]); issued[first] = true; next = first + 1; last = cursor
			:: else -> next = 1; last = 0	/* another session's nextval came between, so it is drained */
			fi }
	:: else
	fi;
	goto ended
}
