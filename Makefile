# Forwards to meson and to tools/; make help lists the targets.
BUILD ?= build
PREFIX ?= /usr/local
NINJA = meson compile -C $(BUILD)
# Leaks are not checked: a process that ends returns its memory. Aborting
# makes a sanitizer's finding a test failure.
SAN = ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1

.PHONY: build check asan fuzz bench fmt lint demo install clean help
build: $(BUILD)/build.ninja ## build $(BUILD)/tally (the default)
	@$(NINJA)

$(BUILD)/build.ninja:
	meson setup --prefix $(PREFIX) $(BUILD)

# New test files are found when meson looks again.
check: $(BUILD)/build.ninja ## run all tests that can run here
	@meson setup --reconfigure $(BUILD) >/dev/null
	@$(NINJA)
	tools/check --build $(BUILD)

asan: ## build with sanitizers and hostile allocation, run tiers T0 and T1
	@test -f build-asan/build.ninja || meson setup build-asan \
	    -Dhostile_alloc=true -Db_sanitize=address,undefined \
	    -Dc_args='-fno-sanitize-recover=all -fno-omit-frame-pointer' \
	    -Dprefer_static=false -Db_lundef=false
	@meson setup --reconfigure build-asan >/dev/null
	@meson compile -C build-asan
	$(SAN) tools/check --build build-asan --no-attach --timeout 600

fuzz: ## run the fuzz targets, 60 s each (clang)
	@test -f build-fuzz/build.ninja || CC=clang meson setup build-fuzz \
	    -Dfuzz=true -Dhostile_alloc=true -Db_sanitize=address,undefined \
	    -Dc_args=-fno-sanitize-recover=all -Db_lundef=false
	@meson compile -C build-fuzz
	fuzz/run build-fuzz 60

bench: build ## measure, against the machine's other tracers where present
	TALLY=$(abspath $(BUILD))/tally bench/run

fmt: ## format the sources (clang-format)
	git ls-files 'src/*.[ch]' 'tests/*.[ch]' 'fuzz/*.[ch]' 'bench/*.[ch]' | xargs clang-format -i

lint: ## the checks of the tree alone
	tools/check --build $(BUILD) --tree

demo: build ## run the main job for 3 s: who makes how many system calls
	tools/demo $(BUILD)

install: build ## install below PREFIX (/usr/local), or DESTDIR
	meson install -C $(BUILD)

clean: ## remove the build folders
	rm -rf $(BUILD) build-asan build-fuzz

help: ## this text
	@sed -n 's/^\([a-z]*\):[^#]*## /\1	/p' Makefile | expand -t 12
