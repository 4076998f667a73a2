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
# Of peers and growth: small proves that all runs and measures nothing; where to write.
BENCH_SCALE ?= full
RESULTS ?= benchmarks/results
PROFILETIME ?= 2s
# How long the API is under load.
LOAD ?= 10s
# How many seeds the simulation of leases runs, or the one to run again.
SEEDS ?= 100000
SEED ?=
# Of the torture of leases: how long and how many ids at least, over all stores, and
# SEED that of a run before.
TORTURE_SECONDS ?= 420
TORTURE_IDS ?= 1000000000
# Of failover, for each engine: how often the primary is killed, and how many ids and
# seconds at least.
FAILOVER_KILLS ?= 100
FAILOVER_IDS ?= 50000000
FAILOVER_SECONDS ?= 0
# One engine alone: Patroni or GroupReplication. The latter's level of consistency, if it
# is not MySQL's default.
FAILOVER ?=
CONSISTENCY ?=
# On which servers the tests of databases run: all that tools/versions.sh knows.
SERVERS ?=
# The release of pgx that pgxtype is tested with.
PGX ?= latest
# With which commit this one is mixed.
OLD ?= 520a1b0
# How long databases are away, which cells of internal/integration/outage, and by the
# code of which commit, if not this one.
OUTAGE ?= 45s
CELLS ?=
BEFORE ?=
# How long each server is knocked about.
KNOCKS ?= 75s
TAG ?=
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
bench: peers growth ## both of the next two: about 25 minutes

.PHONY: peers
peers: ## ours beside other libraries and keys, COUNT (6) rounds, 20 minutes: benchmarks/results
	tools/install.sh --only postgres
	tools/install.sh --only mariadb
	GOWORK=off go -C benchmarks build -o ../bin/bench ./cmd/bench
	bin/bench -suite bench -count $(COUNT) -scale $(BENCH_SCALE) -module benchmarks -out $(RESULTS)
	"$(call tool,benchstat)" $(RESULTS)/bench.txt >$(RESULTS)/benchstat.txt

.PHONY: growth
growth: ## tables that grow to 10^7 rows, once, about 5 minutes: benchmarks/results
	tools/install.sh --only postgres
	tools/install.sh --only mariadb
	GOWORK=off go -C benchmarks build -o ../bin/bench ./cmd/bench
	bin/bench -suite growth -scale $(BENCH_SCALE) -module benchmarks -out $(RESULTS)

.PHONY: microbench
microbench: ## the root module's benchmarks matching BENCH (all), COUNT (6) times, by benchstat
	mkdir -p bin
	go test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(COUNT) ./... | tee bin/bench.txt
	"$(call tool,benchstat)" bin/bench.txt

.PHONY: profile
profile: ## profiles of what is called most, PROFILETIME (2s) each, in bin/*.prof
	tools/profile.sh $(PROFILETIME)

.PHONY: load
load: ## the API of snowkey serve under load: 32 connections for LOAD (10s), its figures
	SNOWKEY_LOAD=$(LOAD) go test -count=1 -v -run '^TestLoad$$' ./internal/integration/browser

.PHONY: sim
sim: ## simulate leases with SEEDS seeds (100000); SEED=n shows that one
	SNOWKEY_SIM_SEEDS=$(SEEDS) SNOWKEY_SIM_SEED=$(SEED) go test -count=1 -timeout 24h -v -run '^TestSimulation$$' ./worker

.PHONY: torture
torture: leases knocks ## both of the next two: about ten minutes

.PHONY: leases
leases: ## real processes try to make leases duplicate: 10^9 ids in seven minutes
	SNOWKEY_TORTURE_SECONDS=$(TORTURE_SECONDS) SNOWKEY_TORTURE_IDS=$(TORTURE_IDS) SNOWKEY_TORTURE_SEED=$(SEED) \
	  SNOWKEY_TEST_REQUIRE=1 go test -count=1 -timeout 24h -v ./internal/integration/torture

.PHONY: mixed
mixed: ## leases held by this build and by that of OLD (520a1b0) at once: two minutes; needs git's history
	for server in postgres mariadb redis etcd; do tools/install.sh --only "$$server"; done
	old=$$(tools/oldtest.sh $(OLD) internal/integration/torture); \
	  SNOWKEY_TORTURE_OLD=$$old SNOWKEY_TORTURE_SEED=$(SEED) SNOWKEY_TEST_REQUIRE=1 \
	  tools/alone.sh ./internal/integration go test -tags mixed -count=1 -timeout 24h -v -run '^TestMixed' ./torture

.PHONY: knocks
knocks: ## writers while servers and clocks are knocked about, KNOCKS (75s) for each server
	SNOWKEY_TEST_REQUIRE=1 SNOWKEY_KNOCKS=$(KNOCKS) go test -race -v -count=1 -timeout 24h ./internal/integration/knocks

.PHONY: model
model: ## model-check leases; installs spin. BIG=1: large sizes; TRACE="OWN_CLOCK": how it fails
	tools/install.sh --only compiler
	tools/install.sh --only spin
	worker/model/run.sh $(if $(TRACE),--trace $(TRACE),$(if $(BIG),--big))

.PHONY: mutants
mutants: ## break the Go code of leases where the model is broken: a test must fail each time
	tools/install.sh --only redis
	worker/model/mutants.sh

.PHONY: cluster
cluster: ## leases on clusters of etcd and Galera, members killed and cut off; installs galera
	tools/install.sh --only etcd
	tools/install.sh --only galera
	SNOWKEY_TEST_REQUIRE=1 tools/alone.sh ./internal/integration/cluster go test -tags cluster -count=1 -v -timeout 8m -skip '^TestFailover' .

.PHONY: failover
failover: ## kill the primaries of clusters under holders and writers, FAILOVER_KILLS (100) times; FAILOVER=Patroni: one
	tools/install.sh --only etcd
	tools/install.sh --only patroni
	mysql=$${SNOWKEY_TEST_MYSQL_BIN:-$$(tools/unpack.sh sid mysql-server-core mysql-router)}; \
	  SNOWKEY_FAILOVER_KILLS=$(FAILOVER_KILLS) SNOWKEY_FAILOVER_IDS=$(FAILOVER_IDS) SNOWKEY_FAILOVER_SECONDS=$(FAILOVER_SECONDS) \
	  SNOWKEY_FAILOVER_SEED=$(SEED) SNOWKEY_FAILOVER_CONSISTENCY=$(CONSISTENCY) SNOWKEY_TEST_MYSQL_BIN=$$mysql SNOWKEY_TEST_REQUIRE=1 \
	  tools/alone.sh ./internal/integration/cluster go test -tags cluster -count=1 -v -timeout 24h -run '^TestFailover$(FAILOVER)' .

.PHONY: outage
outage: ## databases away for OUTAGE (45s) under 400 requests, 20 minutes. CELLS=PostgreSQL/sql; BEFORE=520a1b0: its code
	for server in postgres mariadb; do tools/install.sh --only "$$server"; done
	cells='TestOutage/cells/$(CELLS)'; export SNOWKEY_OUTAGE=$(OUTAGE) SNOWKEY_TEST_REQUIRE=1; \
	  if [ -z '$(BEFORE)' ]; then go test -count=1 -v -parallel 4 -timeout 24h -run "$$cells" ./internal/integration/outage; \
	  else "$$(tools/oldtest.sh $(BEFORE) internal/integration/outage)" -test.v -test.parallel 4 -test.run "$$cells"; fi

.PHONY: versions
versions: ## what touches a database on PostgreSQL 14 to 18, MariaDB and MySQL, or on SERVERS: an hour
	tools/versions.sh $(SERVERS)

.PHONY: pgx
pgx: ## the tests of pgxtype with the latest pgx, or with PGX=v5.11.0
	mod=$$(mktemp -d); trap 'rm -rf "$$mod"' EXIT; cp go.mod go.sum "$$mod"; export GOWORK=off; \
	  go get -modfile="$$mod/go.mod" github.com/jackc/pgx/v5@$(PGX) && go test -modfile="$$mod/go.mod" -count=1 ./pgxtype

.PHONY: quickstart
quickstart: ## the first example; ARGS="-h" shows its options
	go run ./examples/quickstart $(ARGS)

.PHONY: cover
cover: ## coverage of the root module by its own tests, in bin/cover.html
	mkdir -p bin
	go test -coverpkg=./... -coverprofile=bin/cover.out ./...
	go tool cover -html=bin/cover.out -o bin/cover.html
	go tool cover -func=bin/cover.out | tail -n 1

.PHONY: licences
licences: ## the licence of each module that is used; fails on one that asks for more than to be named
	tools/licences.sh $(MODULES)

.PHONY: api
api: ## what the exported API has become since the last tag, or since TAG
	tools/api.sh $(TAG)

.PHONY: clean
clean: ## remove what these targets made
	rm -rf bin
