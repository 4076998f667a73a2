#!/usr/bin/env bash
# Breaks the Go code in the places in which the model is broken, one at a time, and runs
# the tests: each time one must fail. What is there is not touched: go test is given the
# changed file by -overlay.
#
# usage: mutants.sh [WORD]     those that have the word in their name; all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
words=${1:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# mutant NAME FILE PERL PACKAGE TESTS
mutant() {
	local name=$1 file=$2 change=$3 package=$4 tests=$5 out
	[[ $name == *"$words"* ]] || return 0
	perl -0pe "$change" "$file" >"$scratch/${file##*/}"
	if cmp -s "$file" "$scratch/${file##*/}"; then
		echo "STALE   $name: $file is not as it was when this was written"
		bad=1
		return
	fi
	printf '{"Replace": {"%s": "%s"}}\n' "$PWD/$file" "$scratch/${file##*/}" >"$scratch/overlay.json"
	if out=$(SNOWKEY_TEST_REQUIRE=1 go test -count=1 -short -vet=off -timeout 90s -overlay "$scratch/overlay.json" -run "$tests" $package 2>&1); then
		echo "MISSED  $name: no test of $package fails"
		bad=1
	elif ! grep -q '^ *--- FAIL' <<<"$out" && grep -q '^panic: test timed out' <<<"$out"; then
		# A test that waits for ever does not fail. Nor does a slow machine: see which test it is.
		printf 'caught  %-58s %s does not end\n' "$name" "$(sed -nE 's/^[[:space:]]+(Test[^ ]+) \(.*/\1/p' <<<"$out" | sort -u | paste -sd' ')"
	elif ! grep -q '^ *--- FAIL' <<<"$out"; then
		echo "BROKEN  $name: no test has run"
		tail -5 <<<"$out"
		bad=1
	else
		printf 'caught  %-58s %s\n' "$name" "$(sed -nE 's/^--- FAIL: (Test[A-Za-z]+).*/\1/p' <<<"$out" | sort -u | paste -sd' ')"
		sed -nE 's/^ +--- FAIL: ([^ ]+).*/        \1/p' <<<"$out" | grep '/.*[a-z]' | head -4 || true
	fi
}

# The rules of leases, as in lease.pml: the suite and the simulation of storetest run on a store in memory, which decides by
# package driver.
rules=./worker/storetest
mutant 'the floor is not raised' worker/driver/state.go 's/ns\.Floor = ns\.Since \+ ns\.step\(\)/_ = ns.step/' "$rules" .
mutant 'the floor is raised by the window alone' worker/driver/state.go 's/(func \(ns Namespace\) step\(\) int64 \{ return ns\.FenceWindow) \+ ns\.MaxSkew/$1/' "$rules" .
mutant 'the floor is raised from the clock' worker/driver/state.go 's/ns\.Since = max\(ns\.Floor, s\.Now\)\n\tns\.Floor = ns\.Since/ns.Since = max(ns.Floor, s.Now)\n\tns.Floor = s.Now/' "$rules" .
mutant 'a missing record is not noticed' worker/driver/state.go 's/ \|\| s\.Count < s\.Namespace\.Seen//' "$rules" .
mutant 'holders below a floor ahead renew' worker/driver/state.go 's/ns\.Since = max\(ns\.Floor, s\.Now\)\n\tns\.Floor = ns\.Since \+/ns.Since = s.Now\n\tns.Floor = max(ns.Floor, s.Now) +/' "$rules" .
mutant 'a claim is over at its fence' worker/driver/state.go 's/rec\.Fence\+maxSkew >= now/rec.Fence >= now/' "$rules" .
mutant 'at the fence is after it' worker/driver/state.go 's/rec\.Fence\+maxSkew >= now/rec.Fence+maxSkew > now/' './worker/driver ./worker/storetest' .
mutant 'a lease from before is renewed' worker/driver/renewal.go 's/if rec\.Fence <= since \{/if since < 0 {/' "$rules" .
mutant 'a renewal does not notice another server' worker/driver/renewal.go 's/case forgot:\n/case false:\n/' "$rules" .
mutant 'a fence beyond the window of the namespace' worker/driver/renewal.go 's/min\(r\.FenceWindow, s\.Namespace\.FenceWindow\)/2*r.FenceWindow/' "$rules" .
mutant 'claim starts at its own clock' worker/driver/claim.go 's/start := max\(last, min\(c\.Now, s\.Now\), s\.Namespace\.Floor\)/start := min(last, 0) + c.Now/' "$rules" .
mutant 'claim starts below the floor' worker/driver/claim.go 's/(start := max\(last, min\(c\.Now, s\.Now\)), s\.Namespace\.Floor\)/$1)/' "$rules" .
mutant 'what is freed is claimed at once' worker/driver/state.go 's/case Held, Freed:/case Held:/' './worker/driver ./worker/storetest' .
mutant 'the fencing token is a count' worker/driver/claim.go 's/token := max\(start, 1\)/token := int64(1)/; s/token = max\(start, rec\.FencingToken\) \+ 1/token = rec.FencingToken + 1/' "$rules" .
mutant 'an answer is repeated from the fence' worker/driver/claim.go 's/(return Change\{Lease: rec\.lease\(\)\}, nil)/rec.Start = rec.Fence - c.FenceWindow\n\t\t\t$1/' "$rules" .
mutant 'two windows' worker/driver/claim.go 's/case c\.FenceWindow != ns\.FenceWindow \|\| maxSkew != ns\.MaxSkew:/case false:/' "$rules" .
mutant 'renewal of anybody' worker/driver/renewal.go 's/case !rec\.heldUnder\(r\.ClaimID, r\.FencingToken\):\n\t\treturn Change/case false:\n\t\treturn Change/; s/ \|\| rec\.FencingToken < r\.FencingToken//' "$rules" .
mutant 'renewal by claim ID, without fencing token' worker/driver/state.go 's/ && rec\.FencingToken == fencingToken//' "$rules" .
mutant 'release of anybody' worker/driver/renewal.go 's/if !rec\.heldUnder\(r\.ClaimID, r\.FencingToken\) \{/if false {/' "$rules" .
mutant 'fence raised before the acknowledgement' worker/loop.go 's/(func \(l \*lease\) renew\(\) \{\n\th := l\.current\n)/$1\th.grant.RaiseFence(l.cfg.Now().Add(l.cfg.FenceWindow))\n/' ./worker .
mutant 'released before the grant is closed' worker/release.go 's/max\(h\.grant\.Close\(\)\.UnixMilli\(\), h\.Start\)/l.cfg.Now().UnixMilli()/' ./worker .
mutant 'released below what was issued' worker/release.go 's/h\.grant\.Close\(\)\.UnixMilli\(\), h\.Start/h.grant.Close().UnixMilli()-1, 0/' ./worker .
mutant 'the fence is not looked at' core/allocator.go 's/fence <= last/fence == 0 \&\& fence <= last/' ./worker .

# The same rules, where a store has them in its own language.
mutant 'renewal of anybody: sqlstore' worker/sqlstore/records.go 's/"l\.fencing_token = \? AND l\.claim_id = \? AND l\."/"(l.fencing_token = ? AND l.claim_id = ? OR 1 = 1) AND l."/' ./worker/sqlstore '^TestSQLite$/wal'
mutant 'a lease from before is renewed: sqlstore' worker/sqlstore/records.go 's/THEN l\.fence > n\.since WHEN/THEN 1 = 1 WHEN/' ./worker/sqlstore '^TestSQLite$/wal'
mutant 'a renewal does not notice another server: sqlstore' worker/sqlstore/records.go 's/CASE WHEN n\.incarnation = \{server\} THEN/CASE WHEN 1 = 1 THEN/' ./worker/sqlstore .
mutant 'release of anybody: sqlstore' worker/sqlstore/sqlstore.go 's/" AND claim_id = \?"/" AND (claim_id = ? OR 1 = 1)"/' ./worker/sqlstore '^TestSQLite$/wal'
mutant 'claim without a compare: sqlstore' worker/sqlstore/records.go 's/"l\.claim_id = \? AND l\.fencing_token = \? AND l\.fence = \? AND l\.state = \? AND/"(l.claim_id = ? AND l.fencing_token = ? AND l.fence = ? AND l.state = ? OR 1 = 1) AND/' ./worker/sqlstore .
mutant 'renewal of anybody: redisstore' worker/redisstore/renew.lua "s/if space == '' or not record or .*?then return/if space == '' or not record then return/" ./worker/redisstore .
mutant 'a lease from before is renewed: redisstore' worker/redisstore/renew.lua 's/ or tonumber\(fence\) <= since then/ then/' ./worker/redisstore .
mutant 'claim without a compare: redisstore' worker/redisstore/write.lua "s/if space ~= ARGV\[2\] or kind .*?then return/if space ~= ARGV[2] then return/" ./worker/redisstore .
mutant 'a renewal raises a floor that may be forgotten: redisstore' worker/redisstore/lease.go 's/t\.young = t\.tooYoung\(st, ch\) > 0/t.young = false/' ./worker/redisstore '^TestSnapshotsAndTwoCrashes$'

# The line of calls that wait: a slot is issued by the call that has reserved it, or by none.
line="Reserved|GivenBack|FailedCalls|AtTheFence|CancelledReservations|Impatient|Line|OldTime|ReservationsAtRandom"
mutant 'line: a reservation is given back twice' core/wait.go 's/r\.allocator\.giveBack\(r\.slotRange\)/r.allocator.giveBack(r.slotRange)\n\t\tr.allocator.giveBack(r.slotRange)/' ./core "$line"
mutant 'line: a cancelled call keeps its slots' core/wait.go 's/\tr\.allocator\.giveBack\(r\.slotRange\)\n//' ./core "$line"
mutant 'line: a reservation is issued after the end' core/queue.go 's/if a\.lockedPosition\(0\)\.closed \{/if false {/' ./core "$line"
mutant 'line: a reserved slot that is issued is not the last' core/queue.go 's/\tq\.lastSlot = max\(q\.lastSlot, r\.to-1\)\n//' ./core "$line"
mutant 'line: a gap below the last id is issued' core/queue.go 's/max\(q\.lastSlot\+1, (now<<bits)\)/$1/' ./core "$line"
mutant 'line: a reservation is issued before its time' core/queue.go 's/if _, _, limit := a\.limits\(\); r\.from.* \{/if false {/' ./core "$line"
mutant 'line: a slot before the clock is reserved' core/wait.go 's/else if p\.next>>l\.SequenceBits == tick \{/else {/' ./core "$line"
mutant 'line: the line ends at the fence' core/wait.go 's/else if (p\.next>>l)/else if tick < fence \&\& $1/' ./core "$line"
mutant 'line: a Fill reserves a whole tick' core/queue.go 's/, a\.sequenceMax\/2\+1\)/)/' ./core "$line"
mutant 'line: a call that fails reserves a slot' core/wait.go 's/(\tleft := most - time\.Since\(w\.began\)\n)/$1\tg.lineUp(a, w)\n/' ./core "$line"

# What keeps ids from coming again, as in liveness.pml, and what is left leased.
mutant 'no attempt after a failure' worker/claim.go 's/r\.at = now\.Add\(/r.at = now.Add(1000 * time.Hour + /' ./worker .
mutant 'a request is waited for for ever' worker/loop.go 's/WithTimeout\(ctx, l\.cfg\.Timeout\)/WithTimeout(ctx, 1000*time.Hour)/' ./worker '^TestDeafStore$'
mutant 'calls wait at the fence while renewals fail' worker/loop.go 's/\th\.grant\.SetFenceError\(stalled\)\n//' ./worker .
mutant 'no claim after a loss' worker/lease.go 's/ \|\| s == lost \}/ }/' ./worker .
mutant 'no renewal while another is claimed' worker/loop.go 's/if l\.state\.renews\(\) \{/if l.state == held {/' ./worker .
mutant 'no claim while the record is locked' worker/loop.go 's/errors\.Is\(err, driver\.ErrLocked\) && /false \&\& /' ./worker '^TestLocked$'
mutant 'a lock that is over is not noticed' worker/loop.go 's/if l\.state == blocked \{/if false {/' ./worker '^TestLocked$'
mutant 'a forgotten claim is renewed again and again' worker/loop.go 's/case errors\.Is\(err, driver\.ErrNotHeld\):/case errors.Is(err, driver.ErrNotHeld) \&\& !errors.Is(err, driver.ErrForgotten):/' ./worker '^TestForgotten$'
mutant 'a lease may not have its own worker ID back' worker/claim.go 's/case l\.current != nil: .*\n/case false:\n/' ./worker '^TestOwnWorkerIDAfterAnOutage$'
mutant 'a claim is repeated with another claim ID' worker/claim.go 's/(\tc := \*l\.claiming\.pending\n)/$1\tc.ClaimID = rand.Text()\n/' ./worker .
mutant 'a wrong clock settles a claim' worker/claim.go 's/driver\.IsPermanent\(err\) && !c\.unknown/driver.IsPermanent(err)/' ./worker '^TestLostAnswerBeforeAWrongClock$'
mutant 'a claim granted too late is not released' worker/claim.go 's/(!l\.state\.claims\(\) \{\n\t\th\.grant\.Close\(\)\n)\t\tl\.retire\(h\)\n/$1/' ./worker .
mutant 'a lease ends while a claim is pending' worker/loop.go 's/ \|\| unanswered \{/ {/' ./worker .
mutant 'a claim that does not match is kept' worker/claim.go 's/\t\th\.Start = got\.Fence .*\n/\t\treturn nil, err\n/' "./worker ./worker/httpstore" .
mutant 'a claim that is nonsense is released' worker/claim.go 's/case got\.Fence <= got\.Start:/case false:/' "./worker ./worker/httpstore" .
mutant 'a worker ID is given up for the fence' worker/handover.go 's/case prev\.RegrantReason\(\) == core\.RegrantExhausted:/case false:/' ./worker .
mutant 'a leap is followed that the fence does not cover' core/clock.go 's/fenced, covered = (c\.fence\(.*\))/fenced, _ = $1/' ./worker .

[[ $bad == 0 ]] && echo 'A test fails each time.'
exit $bad
