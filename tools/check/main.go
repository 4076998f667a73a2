// Command check runs the checks and tests of all modules, two at a time, and prints a line for each.
// The last line of its output is "N passed, N failed, N skipped": programs read it. ./test.sh runs it
// in the root of the repository, after it has installed what the tests need.
//
// Status: 0 all is well, 1 a step failed, 2 a wrong option.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A step is a command of bash, which fails or not.
type step struct {
	module, name string // the module is "all" where it is no single one
	command      string
}

// treeSteps check the whole tree, as the workspace sees it.
var treeSteps = []step{
	{"all", "gofmt", `bad=$(gofmt -l .) && [ -z "$bad" ] || { echo "Not formatted by gofmt:"; echo "$bad"; exit 1; }`},
	{"all", "tools", `GOWORK=off GOTOOLCHAIN=auto go -C tools vet ./... && GOWORK=off GOTOOLCHAIN=auto go -C tools test ./...`},
	// Lines, headings and links of the documents: .markdownlint-cli2.yaml.
	{"all", "markdown", `lint=tools/npm/node_modules/.bin/markdownlint-cli2
		[ -x $lint ] || { echo "There is no $lint: npm ci --prefix tools/npm"; exit 1; }; $lint`},
	// A go command writes a sum that is missing into the user's tree: that of a go.mod if its cache of
	// modules is empty, as here, and that of a package's module when it is fetched.
	{"all", "go.work.sum", `cp go.work.sum "$SNOWKEY_TEST_RUN" &&
		GOPROXY="file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)" GOMODCACHE=$SNOWKEY_TEST_RUN/mod \
		GOFLAGS="$GOFLAGS -modcacherw" go list -m all >/dev/null && diff "$SNOWKEY_TEST_RUN/go.work.sum" go.work.sum ||
		{ echo "go.work.sum lacked these: commit them"; exit 1; }
		used=$(go list -deps -test -f "{{with .Module}}{{if not (or .Main .Replace)}}{{.Path}} {{.Version}} {{end}}{{end}}" \
		$(tools/modules.sh | sed "s|$|/...|") | sort -u | sed "/^$/d") && sums=$(find . -name "*.sum" -exec cat {} +) &&
		while IFS= read -r m; do [[ $sums = *"$m"* ]] || { echo "no sum in go.work.sum: $m"; exit 1; }; done <<<"$used"`},
	// Other systems, and one of 32 bits.
	{"all", "platforms", `GOOS=windows CGO_ENABLED=0 go build ./... && GOOS=darwin CGO_ENABLED=0 go build ./core/... ./sqltype/... &&
		GOARCH=386 CGO_ENABLED=0 go vet ./core/... ./sqltype/... ./contrib/token`},
	// The root requires the oldest pgx that passes, and is tested with it. The workspace uses the
	// newest, because modules that are never imported require it.
	{"all", "newest pgx", `go test -short -timeout 60m ./pgxtype/...`},
	// core reads the processor's counter with a line of assembly for amd64, and one for arm64.
	{"all", "counters", `go test -short -tags purego ./core && { [ "$(uname -m)" = aarch64 ] ||
		GOARCH=arm64 CGO_ENABLED=0 go test -short -exec qemu-aarch64-static -run "Counter|Known" ./core; }`},
	// The other steps use the Go that is installed, the oldest that go.mod allows at least. This one uses
	// the newest release for what users import, and leaves out the tests with servers.
	{"all", "newest Go", `export GOTOOLCHAIN=go1.27.3 && modules=$(tools/modules.sh | grep -vE "integration|benchmarks|examples|cmd" | sed "s|$|/...|") &&
		env -u SNOWKEY_TEST_REQUIRE -u SNOWKEY_TEST_FULL go test -short $modules ./internal/integration/encoding`},
	// All seeds and ids, without the race detector, which makes them ten times slower. They are the
	// same for the same code, so Go may know the result.
	{"all", "simulation", `go test -timeout 60m -run "^(TestSimulation|TestStorm)$" ./worker ./core`},
	// Our own linter, on the code that uses snowkey as its users do. Tests have faults on purpose.
	{"all", "snowkeylint", `tools/alone.sh ./contrib/lint go build -o "$SNOWKEY_TEST_RUN/snowkeylint" ./cmd/snowkeylint &&
		"$SNOWKEY_TEST_RUN/snowkeylint" -test=false ./... ./cmd/snowkey/... ./examples/...`},
}

// moduleSteps check a module without the workspace, as its importers get it. %[1]s is its folder.
var moduleSteps = []step{
	{"", "tidy", `tools/alone.sh %[1]s go mod tidy -diff`},
	{"", "build", `tools/alone.sh %[1]s go build -o /dev/null ./... && tools/alone.sh %[1]s go vet -tags cluster ./...`},
	// SQLite is C translated into Go. Its heap is not Go's, so the race detector finds next to nothing
	// there, and takes most of the time of its tests. -p 4: tests wait for servers and clocks. -w:
	// linking takes half the time. The step build has run vet, and simulation all seeds.
	{"", "test", `SNOWKEY_SIM_SEEDS=${SNOWKEY_SIM_SEEDS:-500} tools/alone.sh %[1]s go test -json -p 4 -race \
		"-gcflags=modernc.org/...=-race=false -d=checkptr=0" "-gcflags=github.com/glebarez/go-sqlite=-race=false -d=checkptr=0" \
		-ldflags=-w -vet=off -timeout 60m ./...`},
}

// slowSteps of a module take the whole machine, and run alone. The linter runs in the workspace: it
// cannot use another go.mod, as alone.sh does. A licence may only ask for attribution; MPL-2.0 also
// covers changes to its own files, of which there are none.
var slowSteps = []step{
	{"", "licences", `check=$(GOWORK=off GOTOOLCHAIN=auto go -C tools tool -n go-licenses) && mod=$(sed -n "s/^module //p" go.mod) && cd %[1]s &&
		out=$("$check" check --include_tests --ignore "$mod" --allowed_licenses \
		MIT,MIT-0,BSD-2-Clause,BSD-3-Clause,0BSD,ISC,Apache-2.0,MPL-2.0,Zlib,Unlicense,CC0-1.0,Unicode-DFS-2016 ./... 2>&1) || { echo "$out"; exit 1; }`},
	{"", "lint", `config=$PWD/.golangci.yml lint=$(GOWORK=off GOTOOLCHAIN=auto go -C tools tool -n golangci-lint) && cd %[1]s &&
		"$lint" run --allow-serial-runners --config "$config" ./...`},
}

func main() {
	run := flag.String("run", "", "run only the steps whose \"MODULE: STEP\" matches this `regexp`")
	skip := flag.String("skip", "^$", "leave out the steps that match this `regexp`")
	list := flag.Bool("list", false, "print the steps, and run none")
	flag.Parse()
	only, err1 := regexp.Compile(*run)
	but, err2 := regexp.Compile(*skip)
	if err := errors.Join(err1, err2); err != nil || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "check:", cmp.Or(err, errors.New("takes no arguments, only -run, -skip and -list")))
		os.Exit(2)
	}
	modules, err := exec.CommandContext(context.Background(), "tools/modules.sh").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "check: tools/modules.sh:", err)
		os.Exit(1)
	}
	first, last := plan(strings.Fields(string(modules)), func(name string) bool { return only.MatchString(name) && !but.MatchString(name) })
	if *list {
		for _, job := range append(first, last) {
			for _, s := range job {
				fmt.Println(s)
			}
		}
		return
	}
	if err := work(os.Stdout, first, last); err != nil {
		os.Exit(1)
	}
}

func (s step) String() string { return s.module + ": " + s.name }

// plan returns the chosen steps: the jobs that two lanes share, and what runs alone after them. The
// module that takes longest is the first job.
func plan(modules []string, chosen func(string) bool) (jobs [][]step, last []step) {
	add := func(job []step, module string, steps []step) []step {
		for _, s := range steps {
			if s.module == "" {
				s.module, s.command = module, fmt.Sprintf(s.command, module)
			}
			if chosen(s.String()) {
				job = append(job, s)
			}
		}
		return job
	}
	const longest = "./internal/integration"
	jobs = [][]step{nil, add(nil, "", treeSteps)}
	for _, m := range modules {
		if job := add(nil, m, moduleSteps); m == longest {
			jobs[0] = job
		} else {
			jobs = append(jobs, job)
		}
		last = add(last, m, slowSteps)
	}
	return jobs, last
}

// work runs the steps and prints what came of them.
func work(out io.Writer, jobs [][]step, last []step) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	folder, err := os.MkdirTemp("", "snowkey-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	c := &check{out: out, env: append(os.Environ(),
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false", // git refuses a tree of another owner
		"CGO_ENABLED=1", // -race needs it
		"SNOWKEY_TEST_REQUIRE=1", "SNOWKEY_TEST_FULL=1",
		"SNOWKEY_TEST_RUN="+folder)} // differs in each run: tests with servers are not taken from the cache
	start := time.Now()
	queue := make(chan []step, len(jobs))
	for _, job := range jobs {
		queue <- job
	}
	close(queue)
	var lanes sync.WaitGroup
	for range 2 { // much of the time tests wait; more at once only makes tests of time fail
		lanes.Go(func() {
			for job := range queue {
				c.run(ctx, job)
			}
		})
	}
	lanes.Wait()
	c.run(ctx, last)
	fmt.Fprintf(out, "\n%.0f s in all\n", time.Since(start).Seconds())
	if ctx.Err() != nil {
		c.bad = append(c.bad, "interrupted")
	}
	if len(c.bad) > 0 {
		err = errors.New(strings.Join(c.bad, ", "))
		fmt.Fprintln(out, "Failed:", err)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", c.passed, c.failed, c.skipped)
	return err
}

// check is a run. mu guards all but env.
type check struct {
	env []string
	mu  sync.Mutex
	out io.Writer
	bad []string // steps
	counts
}

// counts are numbers of tests.
type counts struct{ passed, failed, skipped int }

// run runs steps one after the other, and prints each with its output when it has ended.
func (c *check) run(ctx context.Context, steps []step) {
	for _, s := range steps {
		if ctx.Err() != nil {
			return
		}
		var said bytes.Buffer
		var n counts
		start := time.Now()
		cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", s.command)
		cmd.Env, cmd.Stdout, cmd.Stderr = c.env, &said, &said
		// With all that it has started, which has a while to tidy up.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
		cmd.WaitDelay = 20 * time.Second
		err := cmd.Run()
		text, result := said.String(), ""
		if s.name == "test" {
			var report bytes.Buffer
			n = read(&said, &report)
			if n.passed == 0 || err != nil && n.failed == 0 {
				n.failed++ // a build error, for example; no test at all is no success
				err = cmp.Or(err, errors.New("no tests"))
			}
			text, result = report.String(), fmt.Sprintf(": %d passed, %d failed, %d skipped", n.passed, n.failed, n.skipped)
		}
		c.mu.Lock()
		word := "ok"
		if err != nil {
			word, c.bad = "FAILED", append(c.bad, s.String())
			text += fmt.Sprintf("%v; again: bin/check -run '^%s$'\n", err, regexp.QuoteMeta(s.String()))
		}
		fmt.Fprintf(c.out, "%-6s %s%s (%.0f s)\n", word, s, result, time.Since(start).Seconds())
		if err != nil || s.name == "test" || s.name == "lint" {
			_, _ = io.WriteString(c.out, text)
		}
		c.passed, c.failed, c.skipped = c.passed+n.passed, c.failed+n.failed, c.skipped+n.skipped
		c.mu.Unlock()
	}
}

// read counts the tests in the output of go test -json. It writes what failed ones have said, why
// others were skipped, and what is not of a test: errors of the build.
func read(in io.Reader, report io.Writer) (n counts) {
	type event struct{ Action, Package, Test, Output string }
	said := map[event]string{} // by package and test, while it runs
	lines := bufio.NewReader(in)
	for end := error(nil); end == nil; {
		var line []byte
		line, end = lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) != nil {
			_, _ = report.Write(line)
		}
		test := event{Package: e.Package, Test: e.Test}
		switch e.Action {
		case "output":
			said[test] += e.Output
		case "build-output":
			_, _ = io.WriteString(report, e.Output)
		case "pass":
			if e.Test != "" {
				n.passed++
			}
			delete(said, test)
		case "skip":
			if e.Test != "" { // else a package without tests
				n.skipped++
				fmt.Fprintf(report, "       skipped: %s %s\n", e.Package, strings.Join(strings.Fields(said[test]), " "))
			}
			delete(said, test)
		case "fail":
			// In a package that has ended, what has not is what panicked, or ran too long.
			for t, text := range said {
				if t == test || e.Test == "" && t.Package == e.Package {
					if t.Test != "" {
						n.failed++
					}
					fmt.Fprintf(report, "--- %s %s\n%s", t.Package, t.Test, text)
					delete(said, t)
				}
			}
		}
	}
	return n
}
