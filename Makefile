# SPDX-License-Identifier: Apache-2.0
# What people type. Each target installs what it needs through the package manager (scripts/install-deps).
#   make demo        an operator at work against the embedded API server (KEEP=1 leaves both running)
#   make demo-coordination  three operators that share a database, each for itself and in agreement (STORE=fdb://FILE: on FoundationDB)
#   make test        build and pass the tests
#   make check       everything else that must hold: format, lint, layers, sanitizers, consumers, documents
#   make test-real   the tests that need a real control plane; builds it first, if needed (Go 1.26)
#   make test-foundationdb  the tests that need a real FoundationDB: in FDB_PREFIX, or installed
#   make planted     the bugs of tests/planted, each found by its test (ONE=prefix: only those whose names begin so)
#   make simulate SEEDS=n  simulations of clusters with n seeds each; SEED=17 TRACE=1 repeats one and prints all of it
#   make fuzz MINUTES=n  run every fuzz target for n minutes (TARGET=name: one); findings in build/fuzz/findings
#   make bench       the benchmarks, as JSON under build/bench/results
#   make bench-peers the queue beside client-go and controller-runtime (needs Go); writes docs/benchmarks.md
#   make bench-apiserver the embedded API server beside a real one; writes docs/benchmarks-apiserver.md
#   make bench-runtime  an operator on this library, controller-runtime and kube-rs (Go, Rust); writes docs/benchmarks-runtime.md
#   make bench-cache  a cache on this library, client-go, controller-runtime and kube-rs (Go, Rust); writes docs/benchmarks-cache.md
#   make bench-webhook  webhooks on this library and on controller-runtime under load (needs Go); writes docs/benchmarks-webhook.md
#   make apiserver   build the embedded API server as a program; its path is the last line printed
#   make control-plane  etcd, kube-apiserver, kube-controller-manager and kubectl, built once from Go modules (Go 1.26)
#   make deps        only install what is missing

.PHONY: demo demo-coordination test test-real test-foundationdb check planted simulate fuzz bench bench-peers bench-apiserver bench-runtime bench-cache bench-webhook apiserver control-plane deps clean
.DEFAULT_GOAL := help
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CCACHE_SLOPPINESS := pch_defines,time_macros,include_file_mtime,include_file_ctime
export CCACHE_DEPEND := 1

.PHONY: help
help:
	@sed -n 's/^#   //p' Makefile

deps:
	@scripts/install-deps build

demo:
	@scripts/install-deps build
	@scripts/build release demo-operator evenkeel-apiserver
	@scripts/demo build/release

# Only preset fdb builds the store on FoundationDB, in the directory of preset dev.
coordination_preset = $(if $(filter fdb://%,$(STORE)),fdb,release)
coordination_build = build/$(coordination_preset:fdb=dev)
demo-coordination:
	@scripts/install-deps build
	@scripts/get-program etcd >/dev/null || echo 'without etcd: a server of the same API stands in' >&2
	@scripts/build $(coordination_preset) ring-operator ringdb-sim coordctl evenkeel-apiserver evenkeel-etcd
	@scripts/demo-coordination $(coordination_build) $(if $(STORE),--store $(STORE))

test:
	@scripts/install-deps build
	@scripts/build dev
	ctest --preset dev

test-real:
	@scripts/install-deps build
	@scripts/test-real

test-foundationdb:
	@scripts/install-deps build
	@scripts/test-foundationdb

check:
	@scripts/install-deps check
	@scripts/check

planted:
	@scripts/install-deps build
	@scripts/planted $(ONE)

simulate:
	@scripts/install-deps build
	@scripts/build dev testing_simulation_test
	$(if $(SEEDS),EVENKEEL_SIMULATION_SEEDS=$(SEEDS)) $(if $(SEED),EVENKEEL_SIMULATION_SEED=$(SEED)) $(if $(TRACE),EVENKEEL_SIMULATION_TRACE=$(TRACE)) \
	  build/dev/tests/testing/testing_simulation_test --gtest_filter='Simulation.KeepsItsInvariants'

fuzz:
	@scripts/install-deps check
	@scripts/build fuzz evenkeel-fuzz
	@scripts/fuzz $(or $(MINUTES),1) $(TARGET)

bench:
	@scripts/install-deps bench
	@scripts/build bench workqueue_benchmark cache_benchmark
	@scripts/bench build/bench

bench-peers:
	@scripts/install-deps bench
	@scripts/build bench workqueue_benchmark
	@scripts/bench-peers build/bench

bench-apiserver:
	@scripts/install-deps bench
	@scripts/control-plane
	@scripts/build bench apiserver_benchmark apiserver_objects_benchmark evenkeel-apiserver evenkeel-control-plane
	@scripts/bench-apiserver build/bench

bench-runtime:
	@scripts/install-deps bench
	@scripts/control-plane || echo 'the real API server is left out' >&2
	@scripts/build bench runtime_operator runtime_load evenkeel-apiserver evenkeel-control-plane
	@scripts/bench-runtime build/bench

bench-cache:
	@scripts/install-deps bench
	@scripts/control-plane || echo 'the real API server is left out' >&2
	@scripts/build bench cache_client cache_load cache_server cache_benchmark evenkeel-control-plane
	@scripts/bench-cache build/bench

bench-webhook:
	@scripts/install-deps bench
	@scripts/build bench webhook_operator
	@scripts/bench-webhook build/bench

apiserver:
	@scripts/install-deps build >&2
	@scripts/build release evenkeel-apiserver >&2
	@echo $(CURDIR)/build/release/src/evenkeel-apiserver

control-plane:
	@scripts/control-plane

clean:
	rm -rf build
