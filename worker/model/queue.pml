/*
 * The line of calls that wait in core/queue.go: no slot is issued twice, and a call that begins after
 * another has returned gets a greater slot.
 *
 * Calls take slots by a compare-and-swap of the cursor, or reserve them under a lock, and issue them
 * or give them back later. The clock may show any time whenever it is read. Meanwhile the allocator
 * is closed (the grant ends, is closed, or is left for another value of the roll-back field), and
 * the next one issues from the first tick above the last id.
 *
 * Switches that break it: GIVE_TWICE, IGNORE_CLOSED, NOT_LAST, OLD_GAPS, UNLOCKED_CLOSE.
 */
#ifndef SLOTS
#define SLOTS 6
#endif
#ifndef CALLS
#define CALLS 2	/* of each caller */
#endif
#define B 2	/* slots of a tick */
#define CLOSED 99

bool issued[SLOTS];
byte gaps[SLOTS];	/* how often each is in the list of slots that were given back */
byte cursor = B, end, last, final;	/* as in queue; the first tick is empty, so that there is a last id */
byte greatest;	/* of the calls that have returned */
bool locked;

inline issue(slot) { assert(!issued[slot]); issued[slot] = true }

#ifdef OLD_GAPS
#define OLD false
#else
#define OLD (next <= last)	/* a slot that was given back is forgotten below the last id */
#endif

/* lockedPosition: c is the cursor, and next the slot to be reserved. */
inline position() {
	c = cursor;
	d_step {
		closed = (c == CLOSED);
		if
		:: closed -> c = final
		:: else
		fi;
		if
		:: c != end -> end = c; last = c - 1
		:: else
		fi;
		next = B;
		do
		:: next < c && (gaps[next] == 0 || OLD) -> next++
		:: else -> break
		od }
}
#define LOCK atomic { !locked -> locked = true }
#define UNLOCK locked = false

active [2] proctype caller() {
	byte c, next, slot, floor, calls;
	bool closed;

endcall:	atomic { calls < CALLS -> calls++; floor = greatest; slot = 0; c = 0; next = 0; closed = false }
	do
	:: /* take: the cursor and the clock are read, and later the cursor is swapped. */
		atomic { cursor != CLOSED && cursor < SLOTS -> c = cursor; select(slot : c .. SLOTS - 1) }
		if
		:: slot > c -> slot = slot - slot % B	/* the clock shows a later tick */
		:: else
		fi;
		if
		:: slot < c -> slot = c
		:: else
		fi;
		atomic {
			if
			:: cursor == c -> cursor = slot + 1; issue(slot); goto returned
			:: else -> slot = 0
			fi }
	:: /* reserve */
		LOCK; position();
		atomic {
			if
			:: !closed && next < c -> gaps[next]--; slot = next
			:: !closed && next == c && cursor == c && c < SLOTS -> cursor = c + 1; end = c + 1; slot = c
			:: else
			fi;
			UNLOCK }
		do
		:: slot == 0 -> break
		:: slot > 0 -> /* takeReserved: the clock has reached it */
			LOCK; position();
#ifdef IGNORE_CLOSED
			closed = false;
#endif
			atomic {
				if
				:: closed -> slot = 0; UNLOCK
				:: else -> issue(slot);
#ifndef NOT_LAST
					last = (slot > last -> slot : last);
#endif
					UNLOCK; goto returned
				fi }
		:: slot > 0 -> /* giveBack, of a call that is cancelled */
			atomic { !locked -> gaps[slot]++;
#ifdef GIVE_TWICE
				gaps[slot]++;
#endif
				slot = 0; goto cancelled }
		od
	:: goto cancelled
	od;
returned:
	atomic { assert(slot > floor); greatest = (slot > greatest -> slot : greatest); slot = 0 }
cancelled:
	goto endcall
}

/* The allocator is closed, and the next one issues from the first tick above the last id. */
active proctype closer() {
	byte c, next, first;
	bool closed;

#ifdef UNLOCKED_CLOSE
	position();
	first = (last / B + 1) * B;
#endif
	LOCK;
	atomic { final = cursor; cursor = CLOSED };
	position();
	UNLOCK;
#ifndef UNLOCKED_CLOSE
	first = (last / B + 1) * B;
#endif
	do
	:: first < SLOTS -> atomic { issue(first); first++ }
	:: else -> break
	od
}
