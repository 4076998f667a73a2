# GNU make. `make` alone lists the targets. Rarer commands are in CONTRIBUTING.md.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

MODULES := $(shell tools/modules.sh)
# The modules whose tests can run without a server, and that import little. The command, the examples and
# the others in contrib take longer to build than all of these.
QUICK := . ./contrib/humakey ./contrib/migrate ./contrib/token
# How long each fuzz target runs.
FUZZTIME ?= 10s
# How many rounds of benchmarks, and where the results go.
COUNT ?= 6
RESULTS ?= results

tool = $$(GOWORK=off go -C tools tool -n $(1))

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: quick
quick: ## a minute and a half, or seconds if little has changed: format, and tests without a server
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { printf 'Not formatted; make fmt:\n%s\n' "$$bad"; exit 1; }
	go test -short -vet=off $(addsuffix /...,$(QUICK)) | { grep -v '\[no test files\]' || true; }

.PHONY: test
test: ## everything: installs servers, checks, lint, all tests (./test.sh)
	./test.sh

.PHONY: lint
lint: ## golangci-lint in every module
	GOWORK=off go run tools/check/main.go -run ': lint$$'

.PHONY: fmt
fmt: ## format all Go code
	gofmt -s -w .

.PHONY: tidy
tidy: ## go mod tidy in every module, tools too
	for m in $(MODULES) ./tools; do echo "$$m"; tools/alone.sh --keep "$$m" go mod tidy; done

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (10s)
	grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | while IFS=: read -r file _ func; do \
	  name=$${func#func }; echo "== $$name in $$(dirname "$$file")"; \
	  (cd "$$(dirname "$$file")" && go test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) . </dev/null); \
	done

.PHONY: bench
bench: ## snowkey next to other libraries, and rows under other keys; benchmarks/README.md has the rest
	tools/install.sh --only postgres
	tools/install.sh --only mariadb
	benchstat="$(call tool,benchstat)"; cd benchmarks; export GOWORK=off SNOWKEY_TEST_REQUIRE=1; \
	{ echo 'Unit rows/s better=higher'; echo "date: $$(date -u +%F)"; echo "commit: $$(git describe --always --dirty)"; \
	  for round in $$(seq $(COUNT)); do export BENCH_ROUND=$$round; \
	    go test -run '^$$' -bench . -benchtime 100ms ./generate ./encoding ./pgxkeys; \
	    go test -run '^$$' -bench '^Benchmark[^L]' -benchtime 2x ./inserts; \
	  done; } | tee $(RESULTS)/bench.tmp; mv $(RESULTS)/bench.tmp $(RESULTS)/bench.txt; \
	"$$benchstat" $(RESULTS)/bench.txt >$(RESULTS)/benchstat.txt

.PHONY: torture
torture: ## real processes, servers and clocks are killed, paused and stepped: ten minutes
	SNOWKEY_TORTURE_SECONDS=$${SNOWKEY_TORTURE_SECONDS:-420} SNOWKEY_TORTURE_IDS=$${SNOWKEY_TORTURE_IDS:-1000000000} \
	  SNOWKEY_TEST_REQUIRE=1 go test -count=1 -timeout 24h -v ./internal/integration/torture
	SNOWKEY_KNOCKS=$${SNOWKEY_KNOCKS:-75s} SNOWKEY_TEST_REQUIRE=1 \
	  go test -race -count=1 -timeout 24h -v ./internal/integration/worker/knocks

.PHONY: licences
licences: ## the licence of each module that is used; fails on one that asks for more than to be named
	GOWORK=off go run tools/check/main.go -run ': licences$$'

.PHONY: clean
clean: ## remove what these targets made
	rm -rf bin tools/npm/node_modules
