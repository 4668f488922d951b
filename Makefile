# Chores are written in Rust, in `xtask`; these are short names for them.
# ARGS goes through: `make test ARGS=quote`, `make bench ARGS="--rounds 3 --json"`.

.DEFAULT_GOAL := help
.PHONY: help check test lint lines structure bench bench-cards bench-transfers bench-pages bench-growth bench-budget bench-instructions crash drill upgrade-drill rekey simulate model routes fees fuzz audit sbom package reproduce sdks first-payment live-test wires-latest

help: ## List these targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## Everything: tools, format, lint, a throw-away PostgreSQL, every test.
	@cargo xtask test -- $(ARGS)

check: ## The inner loop: format, lint, unit tests, tests of pure crates and of the engine.
	@cargo xtask check

lint: ## Format and lint only.
	@cargo xtask lint

lines: ## Lines of product code per crate; ARGS="--at COMMIT" beside that commit's.
	@cargo xtask lines -- $(ARGS)

structure: ## Files that use each other in circles; a test keeps the list of them from growing.
	@cargo xtask structure

bench: ## Quote throughput against a bare echo server, memory, rule scaling.
	@cargo xtask bench -- $(ARGS)

bench-cards: ## Card preparations on SQLite and PostgreSQL beside HTTP, provider and rows alone.
	@cargo xtask bench -- preparations $(ARGS)

bench-transfers: ## Bank transfers on SQLite and PostgreSQL beside raw SQLite and pgbench.
	@cargo xtask bench -- transfers $(ARGS)

bench-pages: ## Every page of the console with a million transactions on SQLite and PostgreSQL.
	@cargo xtask bench -- pages $(ARGS)

bench-growth: ## The same work with 10 thousand to a million transactions (ARGS="--sizes 10000,10000000") on both stores.
	@cargo xtask bench -- growth $(ARGS)

bench-budget: ## What one bank transfer costs and leaves behind on both stores; fails where that is beyond its budget.
	@cargo xtask bench -- budget $(ARGS)

bench-instructions: ## Instructions of the server per quote, preparation and transfer, counted by valgrind.
	@cargo xtask bench -- instructions $(ARGS)

simulate: ## Several nodes in every kind of trouble, in virtual time: ARGS="--seeds 10000", ARGS="--seed 7".
	@cargo xtask simulate -- $(ARGS)

model: ## Card payments at random against the provider's record, 100,000 steps on each store (ARGS is another number).
	@cargo xtask model -- $(ARGS)

routes: ## First providers that fail under load, 10 times (ARGS is another number); 100,000 routes against an oracle.
	@cargo xtask routes -- $(ARGS)

fees: ## Card fees of random payments, ten million (ARGS is another number), against a slow second decision.
	@cargo xtask fees -- $(ARGS)

fuzz: ## Requests at random for every operation of the API, 100 for each (ARGS is another number), against its document.
	@cargo xtask fuzz -- $(ARGS)

live-test: ## The whole flow against the providers' own sandboxes; see docs/live-tests.md.
	@cargo xtask live-test

wires-latest: ## Judge requests and answers by the newest libraries of the providers, and say what they changed.
	@cargo xtask wires-latest

crash: ## Kill servers in the midst of transfers, 200 times on each store (ARGS is another number), and of deliveries.
	@cargo xtask crash -- $(ARGS)

drill: ## Failover under load: kills, partitions, pauses of a PostgreSQL cluster and Tollgate; all records compared. See docs/drill.md.
	@cargo xtask drill -- $(ARGS)

upgrade-drill: ## From the first release, and from the version before (ARGS is another commit), to this one and back under load on both stores.
	@cargo xtask upgrade-drill -- $(ARGS)

rekey: ## Rotate the master key of 100,000 values under load (ARGS is another number), the server killed 20 times on each store.
	@cargo xtask rekey -- $(ARGS)

audit: ## Licenses, sources and known vulnerabilities of all dependencies, by deny.toml.
	@cargo xtask audit

sbom: ## A CycloneDX list of what the binary is made of.
	@cargo xtask sbom

reproduce: ## Two release builds in different folders, which must be the same bytes: half an hour. One is left as target/reproduce/tollgate.
	@cargo xtask reproduce

package: ## A .deb, .rpm and archive of the release binary, tried out in a new Debian up to a paid payment (ARGS is another binary).
	@cargo xtask package -- $(ARGS)

sdks: ## The packages of the TypeScript and Python SDKs, in target/sdks.
	@cargo xtask sdks

first-payment: ## README's commands with the release binary, up to a paid payment, timed: less than a minute.
	@cargo xtask first-payment
