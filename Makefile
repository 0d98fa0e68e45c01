# Everything happens in this folder: `make` sets up .venv by itself, and `make run` keeps its demo in
# .demo. Nothing is written elsewhere.
PYTHON ?= python3
PY := .venv/bin/python
STAMP := .venv/.installed
RUN_STAMP := .venv/.installed-to-run
WORKERS ?= 2
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_CACHE_DIR := 1
unexport PYTHONDONTWRITEBYTECODE  # tests start dozens of processes: each would compile everything anew

.PHONY: run test soak fuzz load bench lint format docs snapshots clean

# A service with a small demo memory, until Ctrl-C; `make run SECONDS=30` ends by itself, and
# `make run PORT=8099` chooses the port. The demo and the token of the server are in .demo.
run: $(RUN_STAMP)
	XDG_DATA_HOME="$(CURDIR)/.demo" $(PY) -m commonplace serve --demo $(if $(PORT),--port $(PORT)) $(if $(SECONDS),--for $(SECONDS))

test: $(STAMP) lint
	$(PY) -m pytest -m "not soak" -n $(WORKERS) --dist loadfile --no-loadscope-reorder

soak: $(STAMP)
	$(PY) -m pytest -m soak --timeout=3000

# Requests made up from the OpenAPI description: FUZZ_CASES of them, or FUZZ_SECONDS' worth.
fuzz: $(STAMP)
	$(PY) -m pytest tests/soak/test_soak_rest_fuzz.py --timeout=3000

# 50 clients on loopback against real servers, seven set-ups of a minute each; for a quiet machine.
load: $(STAMP)
	$(PY) -m benchmarks load --write

bench: $(STAMP) .venv/.bench
	$(PY) -m benchmarks truth
	$(PY) -m benchmarks understanding
	$(PY) -m benchmarks extract
	$(PY) -m benchmarks everyday
	$(PY) -m benchmarks walks --only speed
	$(PY) -m benchmarks walks --only cypher
	$(PY) -m benchmarks

lint: $(STAMP)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(STAMP)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# Names and shapes that clients depend on, recorded anew after a wanted change.
snapshots: $(STAMP)
	$(PY) -m pytest tests/contract --record

docs: $(STAMP)
	$(PY) -m tools.reference

clean:
	rm -rf .venv .demo .mypy_cache .ruff_cache .pytest_cache

$(PY):
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Commonplace needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --upgrade pip

# To run a server takes a quarter of what the tests take.
$(RUN_STAMP): pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --editable ".[server]"
	touch $(RUN_STAMP)

$(STAMP): pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --editable ".[postgres,fastembed,graph,minilm,onnx,server,tracing,dev]"
	touch $(STAMP) $(RUN_STAMP)

# The peers that `make bench` measures beside us are large, so they come only when asked for.
.venv/.bench: $(STAMP)
	$(PY) -m pip install --quiet --editable ".[bench]" || echo "peers could not be installed: the benchmark runs without them"
	touch .venv/.bench
