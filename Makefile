# SPDX-License-Identifier: MIT
# A thin front for meson: what people type. Everything is built in build/.

PREFIX ?= /usr/local
DESTDIR ?=
MESON ?= meson
BUILD := build
comma := ,

.PHONY: all demo check install bench format lint analyze sanitize fuzz deps test-deps clean

all: $(BUILD)/build.ninja
	@$(MESON) compile -C $(BUILD) >$(BUILD)/log.txt 2>&1 || { cat $(BUILD)/log.txt; exit 1; }
	@cp -f $(BUILD)/src/cli/hutch $(BUILD)/hutch.new && mv -f $(BUILD)/hutch.new $(BUILD)/hutch
	@echo "built $(BUILD)/hutch"

$(BUILD)/build.ninja: | deps
	@$(MESON) setup $(BUILD) --prefix $(PREFIX) >/dev/null

deps:
	@tools/install-packages build

test-deps:
	@tools/install-packages build test

demo: all
	@tools/demo

check: test-deps
	@$(MAKE) --no-print-directory all
	@tests/run

# The prefix may be another than the one the build was set up with.
install: all
	@test "$$(cat $(BUILD)/prefix 2>/dev/null)" = "$(PREFIX)" || { \
		$(MESON) setup --reconfigure $(BUILD) --prefix $(PREFIX) >/dev/null && \
		$(MESON) compile -C $(BUILD) >/dev/null && echo "$(PREFIX)" >$(BUILD)/prefix; }
	@DESTDIR=$(DESTDIR) $(MESON) install -C $(BUILD) --no-rebuild --quiet
	@echo "installed $(DESTDIR)$(PREFIX)/bin/hutch"

bench: all
	@bench/run

format:
	@git ls-files '*.[ch]' | xargs clang-format -i

lint:
	@tools/check-floors
	@git ls-files '*.[ch]' | xargs clang-format --dry-run -Werror

# A build in its own folder; what it says is shown when it fails. Arguments: folder, compiler, options.
define other_build
	@mkdir -p $(1)
	@{ { test -f $(1)/build.ninja || \
		CC=$(2) $(MESON) setup $(1) --buildtype debugoptimized $(3); } && $(MESON) compile -C $(1); } \
		>$(1)/log.txt 2>&1 || { cat $(1)/log.txt; exit 1; }
endef

# gcc's static analyzer over everything; a finding stops the build.
analyze: deps
	$(call other_build,build-analyze,gcc,-Dc_args=-fanalyzer)

# clang's sanitizers for addresses, leaks and undefined behaviour, and a libFuzzer program per parser.
sanitize: deps
	$(call other_build,build-sanitize,clang,-Db_sanitize=address$(comma)undefined -Dfuzz=true -Db_lundef=false)

# FUZZ_SECONDS=60 make fuzz: also run each for so long; FUZZ_CORPUS=DIRECTORY keeps what is found.
fuzz: sanitize
	@test -z "$(FUZZ_SECONDS)" || tests/fuzz/run

clean:
	@rm -rf build build-analyze build-sanitize
