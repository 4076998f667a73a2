/*
 * The cursor and the fence of ddl.Generator in PostgreSQL: no slot is issued twice.
 *
 * Sessions take blocks of B slots from a sequence, the cursor. A crash loses what was written to
 * sequences since the log was flushed; clients remember the ids that they have read. The clock may
 * show any time whenever it is read: uniqueness does not depend on it. A call may be cancelled
 * between any two statements, which releases its lock, and keeps what it has written to
 * sequences. A session may disconnect, which loses its cache.
 *
 * Switches that break it: NO_LOCK, NO_FLUSH, NO_MARKER, LATE_POSITION, KEEP_UNLOCKED, STEP_BACK.
 */
#ifndef SLOTS
#define SLOTS 12
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef CANCELS
#define CANCELS 1
#endif
#ifndef QUITS
#define QUITS 1
#endif
#define B 3	/* slots of a block; the last of them only says that the block is used up */
#ifndef SPAN
#define SPAN 6	/* how far beyond a block the fence is raised */
#endif

bool issued[SLOTS];

/* What the server has, and what its flushed log says. */
byte cursor = B - 1, fence = B, safe = B, kept_cursor = B - 1, kept_fence = B, kept_safe = B;
/* Where the log has the fence: it must be noted yet, or it is not flushed, or it is. */
mtype = { unknown, written, flushed };
mtype position = flushed, kept_position = flushed;
bool marker = true;	/* is not logged */
bool locked;
byte boot, crashes, cancels, quits;

active proctype server() {
end:	do
	:: d_step { kept_cursor != cursor || kept_fence != fence || kept_safe != safe || kept_position != position || position == written ->
		if
		:: position == written -> position = flushed
		:: else
		fi;
		kept_cursor = cursor; kept_fence = fence; kept_safe = safe; kept_position = position }
	:: d_step { crashes < CRASHES ->
		crashes++; boot++; locked = false;
		cursor = kept_cursor; fence = kept_fence; safe = kept_safe; position = kept_position;
#ifndef NO_MARKER
		marker = false
#endif
		}
	od
}

/* Before each statement: the server may have crashed, and the call may be cancelled. */
#define STATEMENT \
	if \
	:: boot != mine -> goto connect \
	:: boot == mine && cancels < CANCELS -> cancels++; goto ended \
	:: boot == mine \
	fi

active [2] proctype session() {
	byte mine, next, last;	/* the session's cache of the sequence: next to last, or nothing */
	byte first, target, now;
	bool holds;

connect:
	atomic { mine = boot; next = 1; last = 0; holds = false; first = 0; target = 0; now = 0 }
ended:
	atomic {
		if
		:: holds && boot == mine -> locked = false
		:: else
		fi;
		holds = false; first = 0; target = 0; now = 0 }
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
	/* After a crash: the log may have lost the end of the cursor, but not of a fence that was used. */
	if
	:: !marker ->
		atomic { STATEMENT;
			if
			:: fence > cursor -> cursor = fence
			:: else
			fi;
			cursor = cursor - cursor % B + B - 1 }
		atomic { STATEMENT; marker = true }
	:: marker
	fi;
	atomic { STATEMENT; select(now : B .. SLOTS - B); first = cursor + 1;
		if
		:: now > first -> first = now
		:: else
		fi;
		now = 0; first = (first + B - 1) / B * B }
	/* A call that raised the fence was cancelled before it had noted the position. */
	if
	:: position == unknown -> atomic { STATEMENT; position = written }
	:: else
	fi;
	if
#ifdef NO_FLUSH
	:: safe < fence ->
#else
	:: safe < fence && position == flushed ->
#endif
		atomic { STATEMENT; safe = fence }
	:: else
	fi;
	target = (first + SPAN < SLOTS -> first + SPAN : SLOTS);
	if
	:: fence < target ->
#ifndef LATE_POSITION
		atomic { STATEMENT; position = unknown }
#endif
		atomic { STATEMENT; fence = target }
		atomic { STATEMENT; position = written }
	:: else
	fi;
	STATEMENT;
	if
	:: first + B <= safe ->
		/* setval, which also empties the session's cache; it does not look where the cursor is. */
		d_step { boot == mine ->
#ifdef STEP_BACK
			first = first - B;
#endif
			cursor = first - 1; next = 1; last = 0 }
		STATEMENT;
		d_step { boot == mine ->
			first = cursor + 1; cursor = cursor + B;
			if
			:: first + B <= safe -> assert(!issued[first]); issued[first] = true; next = first + 1; last = cursor
			:: else -> next = 1; last = 0	/* another session's nextval came between, so it is drained */
			fi }
	:: else
	fi;
	goto ended
}
