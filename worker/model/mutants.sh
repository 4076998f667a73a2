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

servers=./internal/integration/worker

mutant 'renewal of anybody' worker/driver/request.go \
	's/if !rec\.heldUnder\(r\.FencingToken, r\.ClaimID\) \{(\n\t\treturn false\n\t\}\n\trec\.Fence, rec\.Expires = max)/if false {$1/' "./worker ./worker/memstore ./worker/httpstore" .
mutant 'renewal by claim ID, without fencing token' worker/driver/request.go 's/rec\.FencingToken == fencingToken && //' "./worker ./worker/memstore ./worker/httpstore" .
mutant 'renewal of anybody: sqlstore' worker/sqlstore/dialect.go \
	's/(expires_at = \{expiry\}" \+ )row \+ " AND token = \?\{gate\}"/$1" WHERE space = ? AND worker = ? AND epoch >= ? AND (token = ? OR 1 = 1)"/' ./worker/sqlstore '^TestSQLite$/wal'
mutant 'renewal of anybody: redisstore' worker/redisstore/renew.lua "s/if e ~= epoch or t ~= token or token == '' then/if token == '' then/" $servers '^TestRedisStore$'
mutant 'fence raised before the acknowledgement' worker/requests.go 's/(return &call\{kind: renewCall)/a.grant.RaiseFence(time.UnixMilli(r.Fence))\n\t$1/' ./worker .
mutant 'claim begins at its own clock' worker/driver/request.go 's/from := max\(rec\.Fence, r\.Now\)/from := r.Now/' "./worker ./worker/memstore ./worker/httpstore" .
mutant 'claim begins at its own clock: redisstore' worker/redisstore/claim.lua 's/from = math\.max\(best\.bound, now\)/from = now/' $servers '^TestRedisStore$'
mutant 'released from where the clock is' worker/requests.go 's/fence := max\(a\.grant\.Close\(\)\.UnixMilli\(\), a\.claim\.From\)/fence := l.cfg.Now().UnixMilli()/' ./worker .
mutant 'released below what was issued' worker/requests.go 's/a\.grant\.Close\(\)\.UnixMilli\(\), a\.claim\.From/a.grant.Close().UnixMilli()-1, 0/' ./worker .
mutant 'release of anybody' worker/driver/request.go 's/if !rec\.heldUnder\(r\.FencingToken, r\.ClaimID\) \{(\n\t\treturn false\n\t\}\n\trec\.ClaimID, rec\.Fence)/if false {$1/' "./worker ./worker/memstore ./worker/httpstore" .
mutant 'release of anybody: sqlstore' worker/sqlstore/dialect.go \
	's/(until_ts = \?, expires_at = 0" \+ )row \+ " AND token = \?\{gate\}"/$1" WHERE space = ? AND worker = ? AND epoch >= ? AND (token = ? OR 1 = 1)"/' ./worker/sqlstore '^TestSQLite$/wal'
mutant 'claim without a compare: sqlstore' worker/sqlstore/dialect.go \
	's/(expires_at = \{expiry\}" \+\n\t\t\t)row \+ " AND until_ts = \?/$1" WHERE space = ? AND worker = ? AND epoch <> ? - 1000000 AND until_ts <> ? - 1000000/' ./worker/sqlstore '^TestSQLite$/wal'
mutant 'the fence is not looked at' core/allocator.go 's/fence <= last/fence == 0 \&\& fence <= last/' ./worker .

# The line of calls that wait: a slot is issued by the call that has reserved it, or by none.
line="Reserved|GivenBack|Line|OldTime|ReservationsAtRandom"
mutant 'line: a reservation is given back twice' core/wait.go 's/r\.allocator\.giveBack\(r\.gap\)/r.allocator.giveBack(r.gap)\n\t\tr.allocator.giveBack(r.gap)/' ./core "$line"
mutant 'line: a reservation is issued after the end' core/allocator.go 's/if a\.lockedPosition\(0\)\.closed \{/if false {/' ./core "$line"
mutant 'line: a reserved slot that is issued is not the last' core/allocator.go 's/\tq\.last = max\(q\.last, r\.from\+r\.n-1\)\n//' ./core "$line"
mutant 'line: a gap below the last id is issued' core/allocator.go 's/lowest := max\(q\.last\+1, (.*)\)/lowest := $1/' ./core "$line"
mutant 'line: a reservation is issued before its time' core/allocator.go 's/if _, _, maxTick := a\.limits\(\); r\.from.* \{/if false {/' ./core "$line"
mutant 'line: a slot before the clock is reserved' core/wait.go 's/inLine := p\.next>>bits == tick && /inLine := /' ./core "$line"
mutant 'line: the line ends at the fence' core/wait.go 's/inLine := /inLine := tick < a.grant.fence.Load() \&\& /' ./core "$line"
mutant 'line: a Fill reserves a whole tick' core/allocator.go 's/, a\.sequenceMax\/2\+1\)/)/' ./core "$line"

mutant 'a claim that is answered twice is two claims' worker/outcome.go 's/known != nil && known\.Worker/false \&\& known.Worker/' ./worker '^TestClaimAnsweredTwice$'

# What keeps ids from coming again.
mutant 'no attempt after a failure' worker/assignment.go 's/r\.at = now\.Add\(/r.at = now.Add(1000 * time.Hour + /' ./worker .
mutant 'a call that is late is waited for' worker/owner.go 's/(c\.deadline = c\.began\.Add\().*\)/${1}1000 * time.Hour)/' ./worker '^TestDeafStore$'
mutant 'calls wait at the fence while renewals fail' worker/outcome.go 's/\ta\.grant\.SetFenceError\(stalled\)\n//' ./worker .
mutant 'a claim is repeated as another request' worker/requests.go \
	's/sent := l\.claiming\.sent; sent != nil/sent := l.claiming.sent; false/; s/(c\.request = r\n)/if s := l.claiming.sent; s != nil {\n\t\t\tc.repeated, r.ClaimID = true, s.request.ClaimID\n\t\t}\n\t\t$1/' ./worker/httpstore '^TestUnansweredClaimAndLoss$'
mutant 'a claim that does not match is kept' worker/assignment.go 's/\t\ta\.claim\.From = c\.Fence .*\n/\t\treturn nil, err\n/' ./worker/httpstore '^TestImpossibleClaims$'
mutant 'a claim that is nonsense is released' worker/assignment.go 's/c\.Fence <= c\.From \|\| c\.Fence-c\.From > r\.FenceWindow/false/' ./worker/httpstore '^TestImpossibleClaims$'
mutant 'a claim that nobody waits for is kept' worker/outcome.go 's/\t\ta\.grant\.Close\(\)\n\t\tl\.retire\(a\)\n/\t\ta.grant.Close()\n/' ./worker .
mutant 'a leap of the clock is not noticed' worker/owner.go 's/case ahead > 0 && l\.state == held:/case false:/' ./worker .
mutant 'a leap is followed that the fence does not cover' core/clock.go 's/covered := jump <= 0 \|\| .*/covered := true/' ./worker .
mutant 'a leap is followed without the store' worker/assignment.go 's/ahead > maxJump/false/' ./worker .
mutant 'a worker ID is given up for the fence' worker/handover.go 's/case w\.prev\.RegrantReason\(\) == core\.RegrantExhausted:/case false:/' ./worker .
mutant 'a lost worker ID is not replaced' worker/owner.go 's/case acquiring, lost:/case acquiring:/' ./worker .
mutant 'the clock begins anew after a loss' worker/assignment.go 's/if !t\.After\(now\) \{/if t.Sub(now) < 1000*time.Hour {/' ./worker '^TestLeapAfterALoss$'

[[ $bad == 0 ]] && echo 'A test fails each time.'
exit $bad
