# Every target makes the virtual environment that it needs, from nothing, and then does its work.
#
#   make demo     train a small network on handwritten digits
#   make test     run the test suite
#                 ROOM=reductions: the tests of a pass, or of another room, alone
#                 DURATIONS=build/durations.txt: what took the processor's time
#   make oracle   install JAX, so that `make test` compares with it too
#   make parity   compare names, members and parameters of the JAX installed with irax's
#   make fuzz     compile all forms of all cases and thousands of random programs: takes half an hour
#   make sweep    run thousands of JAX's own functions, as it lowers them, against its results
#   make upstream run what legalizations work around: which are still needed?
#   make findings run the scripts in findings/, each in an environment of its own: takes minutes
#   make conformance  compare compilers with StableHLO's specification: takes an hour
#   make programs  compare compilers by random programs: takes a quarter of an hour
#   make docs     write the tables and drawings in docs/ anew
#   make site     build the documentation site into build/site
#   make dist     build the packages, and try the wheel in a clean environment
#   make ecosystem  install libraries for JAX, without JAX, and run a program of each on irax
#   make suites   run samples of these libraries' own tests on irax
#   make lint     check formatting, style and types
#   make format   apply the formatting and the fixes that are safe
#   make bench    run the benchmarks beside JAX
#   make peers    race irax with PyTorch, OpenVINO, Numba and JAX: writes docs/reports/peers.md
#   make clean    remove the virtual environment and all caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto
PYTEST_ARGS ?=
ROOM ?=
DURATIONS ?=
BENCH_ARGS ?=
PEERS_ARGS ?= --page docs/reports/peers.md --output build/peers.json

.DEFAULT_GOAL := help
.PHONY: help demo test oracle parity fuzz sweep upstream findings docs site dist ecosystem suites conformance programs modules lint format bench peers clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

# One stamp for each extra of pyproject.toml. They share one environment, which grows as needed.
$(VENV)/installed-%: pyproject.toml | $(VENV)/created
	@echo "Installing irax[$*] into $(VENV)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(VENV)/created:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "irax needs Python 3.11 or newer, and '$(PYTHON)' was not found." \
	       "Name one that is there: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "irax needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." \
	       "Name a newer one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

demo: $(VENV)/installed-examples
	@$(BIN)/python examples/digits.py

test: $(VENV)/installed-test
	@$(BIN)/python -m pytest --numprocesses $(JOBS) --dist load \
	  $(if $(ROOM),-p tests.rooms --room '$(ROOM)') \
	  $(if $(DURATIONS),-p tests.durations --durations-table='$(DURATIONS)') $(PYTEST_ARGS)

oracle: $(VENV)/installed-oracle

parity: $(VENV)/installed-test $(VENV)/installed-oracle
	@$(BIN)/python -m tests.parity build/parity.md

# `make fuzz FUZZ=100 SEED=1` for fewer programs, and the same ones again.
FUZZ ?= 1000
SEED ?= $(shell date +%s)

fuzz: $(VENV)/installed-test
	@echo "Seed: $(SEED)"
	@IRAX_ALL_FORMS=1 IRAX_FUZZ=$(FUZZ) IRAX_SEED=$(SEED) IRAX_DAMAGE=$(FUZZ) $(BIN)/python -m pytest \
	  tests/differential tests/compiler/mesh/test_combine_all_reduces.py \
	  tests/compiler/derive/test_residuals.py \
	  tests/frontend/test_numpy_table.py tests/frontend/test_function_table.py \
	  tests/frontend/test_examples.py tests/frontend/meshes/test_parallel_gpt.py \
	  tests/frontend/jit/test_threads.py tests/tools/test_damage.py tests/runtime/test_archives.py -m "" \
	  --numprocesses $(JOBS) --hypothesis-seed=$(SEED) $(PYTEST_ARGS)

sweep: $(VENV)/installed-test $(VENV)/installed-oracle
	@IRAX_SWEEP=1 $(BIN)/python -m pytest tests/differential/test_foreign.py \
	  tests/frontend/transformations/test_nestings.py -m "" \
	  --numprocesses $(JOBS) $(PYTEST_ARGS)

# `make upstream ONLY="stable_sort add_of_booleans"` for some.
upstream: $(VENV)/installed-test
	@$(BIN)/python -m tests.upstream.run $(ONLY)

# `make findings ONLY=zarr_complex_negative_zero` for one. All are run, and those that changed named.
findings:
	@changed=; \
	for script in $(if $(ONLY),$(ONLY:%=findings/%.sh),findings/*.sh); do \
	  echo "== $$script"; bash $$script || changed="$$changed $$script"; \
	done; \
	test -z "$$changed" || { echo "Changed, or failed:$$changed" >&2; exit 1; }

# Half an hour. For IREE and XLA alone each case is a program; smaller numbers are larger samples.
$(VENV)-conformance/installed:
	@$(PYTHON) -m venv $(VENV)-conformance
	@$(VENV)-conformance/bin/python -m pip install -qq --disable-pip-version-check jax==0.10.2
	@touch $@

conformance: $(VENV)/installed-test $(VENV)-conformance/installed
	@$(BIN)/python -m tests.conformance.run evaluator
	@$(BIN)/python -m tests.conformance.run cpu --every 6
	@$(BIN)/python -m tests.conformance.run vulkan --every 12
	@$(BIN)/python -m tests.conformance.run xla --every 3 --python $(VENV)-conformance/bin/python
	@$(BIN)/python -m tests.conformance.run interpreter --every 6 \
	  --python $(VENV)-conformance/bin/python
	@$(BIN)/python -m tests.conformance.run llvm-cpu --every 12
	@$(BIN)/python -m tests.conformance.run vmvx --every 24
	@$(BIN)/python -m tests.conformance.run vulkan-spirv --every 48
	@$(BIN)/python -m tests.conformance.report

# `make programs PROGRAMS=1000 SEED=1` for another number of each kind, and the same ones again.
PROGRAMS ?= 60

programs: $(VENV)/installed-test $(VENV)-conformance/installed
	@echo "Seed: $(SEED)"
	@$(BIN)/python -m tests.conformance.programs --count $(PROGRAMS) --seed $(SEED) \
	  --xla $(VENV)-conformance/bin/python
	@$(BIN)/python -m tests.conformance.elsewhere $(VENV)-conformance/bin/python

docs: $(VENV)/installed-test
	@$(BIN)/python -m tests.differential.ops_table
	@$(BIN)/python -m tests.differential.device_table
	@$(BIN)/python -m tests.frontend.api_table
	@$(BIN)/python -m tests.upstream.table
	@$(BIN)/python -m tests.frontend.target_table
	@$(BIN)/python -m website.drawings
	@$(BIN)/python -m website.tutorial_pictures

# Warnings, such as of links that lead nowhere, are errors.
site: $(VENV)/installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "Wrote build/site. To read it: $(PYTHON) -m http.server --directory build/site"

dist: $(VENV)/installed-dist
	@.ci/dist $(BIN)/python

# An environment of its own: JAX is in that of the tests. `make ecosystem ONLY="optax numpyro"` for some.
# tests/ecosystem/documentation.py runs in it too, for JAX's sources.
$(VENV)-ecosystem/installed: pyproject.toml tests/ecosystem/requirements.txt
	@$(PYTHON) -m venv $(VENV)-ecosystem
	@$(VENV)-ecosystem/bin/python -m pip install -qq --disable-pip-version-check \
	  --editable '.[examples,test]'
	@$(VENV)-ecosystem/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
	  --requirement tests/ecosystem/requirements.txt
	@touch $@

ecosystem: $(VENV)-ecosystem/installed
	@$(VENV)-ecosystem/bin/python -m tests.ecosystem.run $(ONLY)

# `make suites ONLY='"flax nnx"' TESTS=200` for one library. Their repositories are cloned.
TESTS ?= 50

suites: $(VENV)-ecosystem/installed
	@mkdir -p build/suites
	@$(VENV)-ecosystem/bin/python -m tests.ecosystem.suites build/suites --tests $(TESTS) $(ONLY)

# Modules that other frameworks write, in environments of their own, tried with irax.
$(VENV)-modules-tensorflow/installed:
	@$(PYTHON) -m venv $(VENV)-modules-tensorflow
	@$(VENV)-modules-tensorflow/bin/python -m pip install -qq --disable-pip-version-check \
	  tensorflow-cpu==2.21.0 keras==3.15.1
	@touch $@

$(VENV)-modules-jax/installed:
	@$(PYTHON) -m venv $(VENV)-modules-jax
	@$(VENV)-modules-jax/bin/python -m pip install -qq --disable-pip-version-check jax==0.10.2
	@touch $@

# torch_xla ends with PyTorch 2.9; torchax names an operator at import that PyTorch 2.13 has no more.
$(VENV)-modules-torch_mlir/installed:
	@$(PYTHON) -m venv $(VENV)-modules-torch_mlir
	@$(VENV)-modules-torch_mlir/bin/python -m pip install -qq --disable-pip-version-check \
	  torch==2.13.0 torch-mlir==20261001 onnx==1.23.2 numpy ml_dtypes
	@touch $@

$(VENV)-modules-torch_xla/installed:
	@$(PYTHON) -m venv $(VENV)-modules-torch_xla
	@$(VENV)-modules-torch_xla/bin/python -m pip install -qq --disable-pip-version-check \
	  torch==2.9.0 torch_xla==2.9.0 numpy
	@touch $@

$(VENV)-modules-torchax/installed:
	@$(PYTHON) -m venv $(VENV)-modules-torchax
	@$(VENV)-modules-torchax/bin/python -m pip install -qq --disable-pip-version-check \
	  torch==2.12.0 torchax==0.0.13 jax flax
	@touch $@

# `make modules WAYS="tensorflow jax"` for some of them: PyTorch's environments have gigabytes.
WAYS ?= tensorflow jax onnx torch_mlir torch_xla torchax
MODULES := build/modules

.PHONY: $(WAYS:%=modules-%)
modules-tensorflow: $(VENV)-modules-tensorflow/installed
	@$(VENV)-modules-tensorflow/bin/python -m tests.modules.tensorflow_keras $(MODULES)/tensorflow

modules-jax: $(VENV)-modules-jax/installed
	@$(VENV)-modules-jax/bin/python -m tests.modules.jax_platforms $(MODULES)/jax

modules-onnx: $(VENV)-modules-torch_mlir/installed
	@$(VENV)-modules-torch_mlir/bin/python -m tests.modules.onnx_models $(MODULES)/onnx

modules-torch_mlir modules-torch_xla modules-torchax: modules-%: $(VENV)-modules-%/installed
	@$(VENV)-modules-$*/bin/python -m tests.modules.pytorch $* $(MODULES)/$*

modules: $(VENV)/installed-dev $(WAYS:%=modules-%)
	@$(BIN)/python -m tests.modules.run $(WAYS:%=$(MODULES)/%)
	@$(BIN)/python -m tests.modules.commands $(WAYS:%=$(MODULES)/%)

lint: $(VENV)/typings
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/basedpyright --project . --pythonpath $(BIN)/python
	@$(BIN)/python .ci/complete_types.py

# The bindings come without types: these are made from what is installed.
$(VENV)/typings: $(VENV)/installed-dev .ci/typings.py
	@$(BIN)/python .ci/typings.py $@
	@touch $@

format: $(VENV)/installed-dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/installed-oracle $(VENV)/installed-examples
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

# An environment of its own, for these libraries are large. PyTorch compiles by the system's C++ compiler.
$(VENV)-peers/installed: pyproject.toml benchmarks/peers/requirements.txt
	@$(PYTHON) -m venv $(VENV)-peers
	@$(VENV)-peers/bin/python -m pip install -qq --disable-pip-version-check --editable . \
	  --requirement benchmarks/peers/requirements.txt
	@touch $@

peers: $(VENV)-peers/installed
	@mkdir -p build
	@$(VENV)-peers/bin/python -m benchmarks.peers $(PEERS_ARGS)

clean:
	rm -rf $(VENV) $(VENV)-conformance $(VENV)-ecosystem $(VENV)-modules-* $(VENV)-peers $(VENV)-second build dist .pytest_cache .ruff_cache .hypothesis
	find . -name '*.egg-info' -prune -exec rm -rf {} +
	find . -name __pycache__ -prune -exec rm -rf {} +
