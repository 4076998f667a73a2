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
# Which benchmarks run, in how many rounds (0: 6, 3 for keys, and 1 for growth), at which scale (full or
# small: small proves that they run and measures nothing), and where the results go.
SUITE ?= bench inserts growth
COUNT ?= 0
SCALE ?= full
RESULTS ?= benchmarks/results

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
bench: ## snowkey beside other libraries, rows under other keys, and growing tables: SUITE=bench, inserts, load, growth or keys
	tools/install.sh --only postgres
	tools/install.sh --only mariadb
	GOWORK=off go -C benchmarks build -o ../bin/bench ./cmd/bench
	for suite in $(SUITE); do bin/bench -suite "$$suite" -count $(COUNT) -scale $(SCALE) -module benchmarks -out $(RESULTS); done
	for suite in bench inserts; do "$(call tool,benchstat)" $(RESULTS)/$$suite.txt; done >$(RESULTS)/benchstat.txt

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
