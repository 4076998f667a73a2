package model_test

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// What a search must find: nothing, or a counterexample. Those that are big take minutes and
// gigabytes, and run with SNOWKEY_MODEL=big.
const (
	holds    = "holds"
	holdsBig = "holds, with SNOWKEY_MODEL=big"
	caught   = "caught"
)

const (
	lease     = "lease.pml"
	generator = "generator.pml" // in SQL: see docs/generator.md
	queue     = "queue.pml"     // calls that wait
	liveness  = "liveness.pml"  // liveness: under weak fairness there is no cycle without an id
)

var searches = []struct{ file, want, name, switches string }{
	{lease, holds, "fence: two claims, put back once", "T=3 CLAIMS=2"},
	{lease, holds, "fence: three claims, an operator", "T=2 FORGETS=0 OPERATES=1"},
	{lease, holds, "fence: put back once, an operator", "T=2 CLAIMS=2 OPERATES=1"},
	{lease, holds, "fence: two claims, put back twice", "T=1 CLAIMS=2 FORGETS=2"},
	{lease, caught, "the floor is not raised", "NO_FLOOR T=2 CLAIMS=2"},
	{lease, caught, "the floor is raised by the window alone", "LOW_FLOOR T=3"},
	{lease, caught, "the floor is raised from the clock", "NOT_NESTED FORGETS=2 T=3"},
	{lease, caught, "a missing record is not noticed", "NO_SEEN OPERATES=1 FORGETS=0"},
	{lease, caught, "holders below a floor ahead renew", "LOW_SINCE OPERATES=1 T=3"},
	{lease, caught, "a claim is over at its fence", "NO_GRACE EPS=2 T=3 CLAIMS=2"},
	{lease, caught, "at the fence is after it", "NOT_STRICT T=3 CLAIMS=2"},
	{lease, caught, "a lease from before is renewed", "RENEW_EXPIRED T=3 CLAIMS=2"},
	{lease, caught, "a fence beyond the store's clock", "UNBOUNDED T=2 CLAIMS=2"},
	{lease, caught, "claim starts at its own clock", "OWN_CLOCK FORGETS=0 T=3 CLAIMS=2"},
	{lease, caught, "what is freed is claimed at once", "FREE_AT_ONCE OPERATES=1 T=2 CLAIMS=2"},
	{lease, caught, "the fencing token is a count", "COUNT_TOKEN T=3 CLAIMS=2"},
	{lease, caught, "an answer is repeated from the fence", "REPLAY FORGETS=0 T=3 W=2"},
	{lease, caught, "renewal of anybody", "RENEW_UNGUARDED FORGETS=0 T=3 CLAIMS=2"},
	{lease, caught, "renewal by claim ID, without fencing token", "RENEW_BY_CLAIM FORGETS=0 T=3 CLAIMS=2"},
	{lease, caught, "fence raised before the acknowledgement", "RAISE_EARLY FORGETS=0 T=3 CLAIMS=2"},
	{lease, caught, "released before the grant is closed", "RELEASE_EARLY FORGETS=0 T=2 CLAIMS=2"},
	{lease, caught, "released below what was issued", "RELEASE_LOW FORGETS=0 T=2 CLAIMS=2"},
	{lease, caught, "release of anybody", "RELEASE_UNGUARDED FORGETS=0 T=2"},
	{lease, caught, "assumption given up: an incarnation comes again", "RETURNS T=2 CLAIMS=2"},
	{lease, caught, "assumption given up: two servers acknowledge", "SPLIT T=2 CLAIMS=2"},
	{lease, caught, "assumption given up: two windows", "TWO_WINDOWS T=2 CLAIMS=2"},
	{lease, caught, "assumption given up: a floor is forgotten", "FORGETS_FLOOR FORGETS=2 T=2"},
	{lease, caught, "assumption given up: memory is copied", "CLONE FORGETS=0 T=2 CLAIMS=2"},
	{lease, caught, "time to live only, a holder is paused", "NAIVE PAUSE"},
	{lease, caught, "time to live only, a clock is one tick slow", "NAIVE SLOW=1"},
	{lease, holds, "time to live only, were there no such things", "NAIVE"},
	{lease, holdsBig, "fence: three claims, put back once", "T=2"},
	{lease, holdsBig, "fence: longer time", "T=5 CLAIMS=2"},
	{generator, holds, "SQL generator: a crash, and a cancelled call", "QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, holds, "SQL generator: two crashes", "CANCELS=0 CRASHES=2 QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, holds, "SQL generator: a restore", "CANCELS=0 QUITS=0 CRASHES=0 TIME=2 SLOTS=14"},
	{generator, holdsBig, "SQL generator: a crash, a restore, a cancelled call", "QUITS=0 TIME=2 SLOTS=14"},
	{generator, holdsBig, "SQL generator: longer time, a disconnection", "TIME=2 SLOTS=18"},
	{generator, caught, "SQL generator: blocks without the lock", "NO_LOCK QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, caught, "SQL generator: a floor that is not flushed", "NO_FLUSH CRASHES=2 QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, caught, "SQL generator: a crash is not noticed", "NO_MARKER QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, caught, "SQL generator: the floor is the clock", "LOW_FLOOR QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, caught, "SQL generator: the floor is noted before it is raised", "RAISED_FIRST QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, caught, "SQL generator: blocks far ahead of the clock", "NO_CAP QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, caught, "SQL generator: a block begun without the lock", "KEEP_UNLOCKED QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{generator, caught, "SQL generator: the cursor is lowered", "STEP_BACK QUITS=0 FORGETS=0 TIME=2 SLOTS=14"},
	{queue, holds, "line of calls: no slot twice, in order", ""},
	{queue, caught, "line of calls: a slot is given back twice", "GIVE_TWICE"},
	{queue, caught, "line of calls: issued after the end", "IGNORE_CLOSED"},
	{queue, caught, "line of calls: the last id is not recorded", "NOT_LAST"},
	{queue, caught, "line of calls: a slot below the last id", "OLD_GAPS"},
	{queue, caught, "line of calls: the end is read too early", "UNLOCKED_CLOSE"},
	{liveness, holds, "ids come again: an outage", "MAY=OUTAGE"},
	{liveness, holds, "ids come again: two outages", "MAY=OUTAGE+TWICE"},
	{liveness, holds, "ids come again: one pool for rows and leases", "POOL=1 MAY=OUTAGE"},
	{liveness, holds, "ids come again: a request never answered", "MAY=OUTAGE+STUCK"},
	{liveness, holds, "ids come again: a worker ID is lost, and an outage", "MAY=OUTAGE+TAKE"},
	{liveness, holds, "ids come again: a clock is wrong for good", "MAY=LOSE+WRONG+BACK+FOREVER"},
	{liveness, holds, "ids come again: a clock is wrong, an answer is lost", "MAY=LOSE+WRONG+BACK"},
	{liveness, holds, "ids come again: another worker ID is wanted in an outage", "MAY=BACK+OUTAGE"},
	{liveness, holds, "ids come again: another is wanted, in one pool", "POOL=1 MAY=BACK"},
	{liveness, holds, "ids come again: an answer and a worker ID are lost", "MAY=BACK+LOSE+TAKE"},
	{liveness, holds, "ids come again: a record is locked for good", "MAY=LOCK+FOREVER"},
	{liveness, holds, "ids come again: the only record is locked", "MAY=LOCK+OUTAGE IDS=1"},
	{liveness, holds, "ids come again: a record is locked in an outage", "MAY=LOCK+OUTAGE"},
	{liveness, holds, "ids come again: the store forgets, and there is one worker ID", "MAY=FORGET+KEPT IDS=1"},
	{liveness, holdsBig, "ids come again: the store forgets, and an outage", "MAY=FORGET+OUTAGE"},
	{liveness, holdsBig, "ids come again: the store forgets, and another is wanted", "MAY=FORGET+BACK"},
	{liveness, holdsBig, "ids come again: the store forgets, and a record is locked", "MAY=FORGET+LOCK"},
	{liveness, holds, "a closed lease holds nothing: an outage", "MAY=CLOSE+OUTAGE"},
	{liveness, holds, "a closed lease holds nothing: an exchange", "MAY=CLOSE+BACK+LOSE"},
	{liveness, holds, "a closed lease holds nothing: the store forgets", "MAY=CLOSE+FORGET"},
	{liveness, holds, "a closed lease holds nothing: the store forgets one that never expires", "MAY=CLOSE+FORGET+KEPT"},
	{liveness, holds, "a closed lease holds nothing: a record is locked", "MAY=CLOSE+LOCK"},
	{liveness, caught, "a renewal that failed is not made again", "MUTANT=NO_RETRY MAY=OUTAGE"},
	{liveness, caught, "a request is waited for for ever", "MUTANT=NO_TIMEOUT MAY=STUCK"},
	{liveness, caught, "a claim that its caller cancels", "MUTANT=CALLER_CANCELS MAY=BACK"},
	{liveness, caught, "calls wait at the fence", "MUTANT=WAIT_IN_TRANSACTION POOL=1 MAY=OUTAGE"},
	{liveness, caught, "no claim after a loss", "MUTANT=LOST_NO_CLAIM MAY=TAKE"},
	{liveness, caught, "no renewal while another is claimed", "MUTANT=ROTATING_NO_RENEWAL MAY=LOCK IDS=1"},
	{liveness, caught, "no claim while the record is locked", "MUTANT=NO_EVASION MAY=LOCK+FOREVER"},
	{liveness, caught, "a forgotten claim is renewed again and again", "MUTANT=FORGOTTEN_FAILS MAY=FORGET"},
	{liveness, caught, "a lease may not have its own worker ID back", "MUTANT=NO_FORMER MAY=FORGET+KEPT IDS=1"},
	{liveness, caught, "a claim is repeated with another claim ID", "MUTANT=NEW_CLAIM_ID MAY=LOSE+BACK"},
	{liveness, caught, "a wrong clock settles a claim", "MUTANT=SKEW_SETTLES MAY=LOSE+WRONG+BACK"},
	{liveness, caught, "a claim granted too late is not released", "MUTANT=KEEP_UNWANTED MAY=CLOSE"},
	{liveness, caught, "a forgotten claim that never expires is not released", "MUTANT=KEEP_FORGOTTEN MAY=CLOSE+FORGET+KEPT"},
	{liveness, caught, "a lease ends while a claim is pending", "MUTANT=DRAINED_EARLY MAY=CLOSE+LOSE"},
}

// TestModel checks the models in their small sizes: the fence holds, ids come again, the generator in
// SQL issues no slot twice, and neither does the line of calls; and each mutation, and each assumption
// given up, is caught. It takes a minute or two on two cores. With
// SNOWKEY_MODEL=trace it tells what happens in the counterexamples, which are shortest ones in lease.pml.
func TestModel(t *testing.T) {
	// Not with testserver.Uncached, which keeps Go from taking the result from its cache. Go does not know
	// spin and the compiler: after a change of those, -count=1 runs the test again.
	mode := os.Getenv("SNOWKEY_MODEL")
	if full := os.Getenv("SNOWKEY_TEST_FULL"); (full == "" || full == "0") && mode == "" {
		t.Skip("slow: runs with SNOWKEY_TEST_FULL=1, as in ./test.sh")
	}
	cc := strings.Fields(cmp.Or(os.Getenv("CC"), "gcc"))
	for _, program := range []string{"spin", cc[0]} {
		if _, err := exec.LookPath(program); err != nil {
			testserver.Missing(t, err)
		}
	}
	bound, memory := 15*time.Minute, "2000"
	if mode == "big" {
		bound, memory = time.Hour, "12000"
	}
	for _, s := range searches {
		if s.want == holdsBig && mode != "big" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			defer cancel()
			m := &model{t, ctx, t.TempDir(), s.file, cc}
			var switches []string
			for _, word := range strings.Fields(s.switches) {
				switches = append(switches, "-D"+word)
			}
			trace := mode == "trace" && s.want == caught
			got, log := m.search(switches, memory, s.want == caught, trace)
			t.Logf("%s %s states in %s s", got, number(log, `(\S+) states, stored`), number(log, `elapsed time (\S+) seconds`))
			if !strings.HasPrefix(s.want, got) {
				t.Errorf("it must be %q:\n%s", s.want, log)
			}
			if trace {
				t.Log("\n" + m.counterexample(switches))
			}
		})
	}
}

// model is one of the files in its own folder.
type model struct {
	*testing.T
	ctx  context.Context //nolint:containedctx // of the test
	dir  string
	file string
	cc   []string
}

// run runs a program to its end, and returns what it says.
func (m *model) run(argv ...string) (string, error) {
	cmd := exec.CommandContext(m.ctx, argv[0], argv[1:]...)
	cmd.Dir = m.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// search returns what was found. The model holds only when every state has been seen, and every
// line of it has been run.
func (m *model) search(switches []string, memory string, fails, shortest bool) (got, log string) {
	m.Helper()
	text, err := os.ReadFile(m.file)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.dir, m.file), text, 0o600)
	}
	if err != nil {
		m.Fatal(err)
	}
	compile, search := []string{"-O2", "-DSAFETY"}, []string{"./pan", "-m200000", "-w22"}
	if m.file == liveness {
		compile, search = []string{"-O0", "-DNFAIR=4"}, append(search, "-a", "-f")
	} else if fails {
		compile[0] = "-O0" // to compile takes longer than to find one
		if shortest {
			compile = append(compile, "-DBFS")
		}
	}
	generate := slices.Concat([]string{"spin", "-a"}, switches, []string{m.file})
	compile = slices.Concat(m.cc, compile, []string{"-w", "-DMEMLIM=" + memory, "-o", "pan", "pan.c"})
	for _, argv := range [][]string{generate, compile} {
		if out, err := m.run(argv...); err != nil {
			m.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	log, err = m.run(search...)
	if violation := map[bool]string{true: "acceptance cycle", false: "assertion violated"}[m.file == liveness]; strings.Contains(log, violation) {
		return caught, log
	}
	if err != nil || number(log, `errors: (\d+)`) != "0" || !strings.Contains(log, "\nFull statespace search") || incomplete.MatchString(log) {
		return "not finished", log
	}
	// The last line of a process that never ends is not reached, and cannot be. Each size of liveness.pml and
	// of lease.pml runs only what may happen in it; that each of its rules is needed, the mutants show.
	for _, line := range regexp.MustCompile(`(?m)^\s+`+m.file+`:\d+, state.*$`).FindAllString(log, -1) {
		if m.file != liveness && m.file != lease && !strings.Contains(line, "-end-") {
			return "never run:" + line, log
		}
	}
	return holds, log
}

var incomplete = regexp.MustCompile("Search not completed|max search depth too small|out of memory|memory limit")

// number returns the first group of a pattern.
func number(log, pattern string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(log); m != nil {
		return m[1]
	}
	return "?"
}

var told = regexp.MustCompile(`(?m)^ *((?:(?:holder|store|operator|time|clock|caller|lease) | +an id: ).*)|^ *<+(START OF CYCLE)>+`)

// counterexample tells what happens in what the search has found.
func (m *model) counterexample(switches []string) string {
	m.Helper()
	out, err := m.run(slices.Concat([]string{"spin", "-t", "-T"}, switches, []string{m.file})...)
	if err != nil {
		m.Fatal(err)
	}
	var lines bytes.Buffer
	for _, line := range told.FindAllStringSubmatch(out, -1) {
		lines.WriteString(cmp.Or(line[1], "and from here on again and again:") + "\n")
	}
	return lines.String()
}
