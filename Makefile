# GNU make. `make` alone lists what there is.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

MODULES := $(shell tools/modules.sh)
EVERYTHING := $(addsuffix /...,$(MODULES))
CONFIG := $(CURDIR)/.golangci.yml
# How long each fuzz target runs, what is measured and how often.
FUZZTIME ?= 10s
BENCH ?= .
COUNT ?= 6
ARGS ?=
# How many seeds the simulation of leases runs, or the one to run again.
SEEDS ?= 100000
SEED ?=
# Of the model of leases: its large sizes, or switches of worker/model/lease.pml.
BIG ?=
TRACE ?=

tool = $$(GOWORK=off go -C tools tool -n $(1))

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: test
test: ## everything: installs servers, checks, lint, all tests (./test.sh)
	./test.sh

.PHONY: quick
quick: ## all tests, without those whose server is not installed
	go test $(EVERYTHING)

.PHONY: race
race: ## the same with the race detector; needs a C compiler
	CGO_ENABLED=1 go test -race $(EVERYTHING)

.PHONY: lint
lint: ## golangci-lint in every module
	lint=$(call tool,golangci-lint); \
	bad=; for m in $(MODULES); do \
	  (cd "$$m" && "$$lint" run --allow-serial-runners --config "$(CONFIG)" ./...) || bad=yes; \
	done; [ -z "$$bad" ]

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
bench: ## benchmarks matching BENCH (all), COUNT (6) times, summed up by benchstat
	mkdir -p bin
	go test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(COUNT) ./... | tee bin/bench.txt
	"$(call tool,benchstat)" bin/bench.txt

.PHONY: sim
sim: ## simulate leases with SEEDS seeds (100000); SEED=n shows that one
	SNOWKEY_SIM_SEEDS=$(SEEDS) SNOWKEY_SIM_SEED=$(SEED) go test -count=1 -timeout 24h -v -run '^TestSimulation$$' ./worker

.PHONY: model
model: ## model-check leases; installs spin. BIG=1: large sizes; TRACE="OWN_CLOCK": how it fails
	tools/install.sh --only compiler
	tools/install.sh --only spin
	worker/model/run.sh $(if $(TRACE),--trace $(TRACE),$(if $(BIG),--big))

.PHONY: quickstart
quickstart: ## the first example; ARGS="-h" shows its options
	go run ./examples/quickstart $(ARGS)

.PHONY: cover
cover: ## coverage of the root module by its own tests, in bin/cover.html
	mkdir -p bin
	go test -coverpkg=./... -coverprofile=bin/cover.out ./...
	go tool cover -html=bin/cover.out -o bin/cover.html
	go tool cover -func=bin/cover.out | tail -n 1

.PHONY: clean
clean: ## remove what these targets made
	rm -rf bin
