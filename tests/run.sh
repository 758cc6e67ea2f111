# run.sh - runs the tests; sourced by build.sh.
#
#   tests/unit/NAME.c    linked with the whole program under ASan and UBSan
#   tests/live/NAME.sh   against out/sonde on this kernel (tests/lib.sh)
#   tests/fuzz/NAME.c    fuzz targets: seconds here, minutes by build.sh fuzz
#   guest-KERNEL/NAME    the live tests once more, in a guest (tests/guest.sh)
#   host-NAME/KERNEL     tests/hosts/NAME.sh in a guest of its own (hosts.sh)
#
# Each prints "PASS name", "FAIL name: why" or "SKIP name: reason" lines; a
# test that ends otherwise than with 0, or prints none, has failed as a whole.

# What tests call and a bare system may lack, as COMMAND:PACKAGE. A test whose
# tool is missing all the same says so and is skipped.
TEST_TOOLS="pgrep:procps readelf:binutils xmllint:libxml2-utils clang:clang
	ld.lld:lld chromium:chromium python3:python3-minimal
	go:golang-go perf:linux-perf xz:xz-utils"

# The guests that a run of all tests boots, and those that one of `ci` does;
# test guests boots all there are.
GUESTS_IN_TEST="6.1 7.2"
GUESTS_IN_CI="5.10 6.1 7.2 aarch64-6.1"
# Seconds for one: on two idle cores it takes less than 60, and others may keep
# them busy.
GUEST_LIMIT=1200

# run_one KIND NAME COMMAND...
run_one() {
	kind=$1 name=$2
	shift 2
	log=out/test/$kind-$name.log
	start=$(date +%s)
	status=0
	timeout "${TEST_LIMIT:-600}" "$@" >"$log" 2>&1 </dev/null || status=$?
	[ $status -eq 0 ] ||
		echo "FAIL $kind/$name: exit status $status" >>"$log"
	grep -qE '^(PASS|FAIL|SKIP) ' "$log" ||
		echo "FAIL $kind/$name: reported nothing" >>"$log"
	sed -n "s,^\(PASS\|FAIL\|SKIP\) ,\1 $kind/$name ,p" "$log" \
		>>"${results:-out/test/results}"
	bad=$(grep -c '^FAIL ' "$log" || true)
	printf '%-40s %3d passed %3d failed %3d skipped %4d s\n' "$kind/$name" \
		"$(grep -c '^PASS ' "$log" || true)" "$bad" \
		"$(grep -c '^SKIP ' "$log" || true)" $(($(date +%s) - start))
	[ "$bad" = 0 ] || { grep '^FAIL ' "$log"; echo "  log: $log"; }
}

wanted() { case $1 in *"$filter"*) return 0 ;; *) return 1 ;; esac; }

unit_tests() {
	units=
	for source in tests/unit/*.c; do
		! wanted "unit/$(basename "$source" .c)" ||
			units="$units $source"
	done
	[ -n "$units" ] || return 0
	CC=${CC_ASAN:-gcc}
	compile out/asan "$BASE $SANITIZE" $units
	for source in $units; do
		echo "out/test/unit-$(basename "$source" .c)" \
			"out/asan/$(object_name "$source")"
	done | link_all "$CC $SANITIZE" $library
	two_at_a_time unit_test $units
}

unit_test() {
	name=$(basename "$1" .c)
	run_one unit "$name" "out/test/unit-$name"
}

# two_at_a_time COMMAND ITEM...: for what does not look at the clock.
two_at_a_time() {
	command=$1 second=
	shift
	for item; do
		$command "$item" &
		[ -z "$second" ] || wait
		[ -n "$second" ] && second= || second=1
	done
	wait
}

# link_all COMPILER OBJECT...: the lines PROGRAM OBJECT of stdin, each with
# these objects, a few at a time.
link_all() {
	compiler=$1
	shift
	LINK_WITH=$compiler OBJECTS=$* xargs -n 2 -P "$(jobs)" sh -c '
		$LINK_WITH -o "$1" "$2" $OBJECTS' sh || die "linking failed"
}

# What live tests watch: as programs are made that can be watched.
test_programs() {
	mkdir -p out/test/programs
	for source in tests/programs/*.c; do
		gcc $(program_flags "$source") -o \
			"out/test/programs/$(basename "$source" .c)" "$source"
	done
}

# Those that look neither at the clock nor at what others do say so in a line
# of their own (# beside others), and run beside the rest, which come one by
# one.
live_tests() {
	test_programs
	export PROGRAMS="$PWD/out/test/programs"
	rm -f out/test/results-*
	live_lane beside $(grep -l '^# beside others' tests/live/*.sh) &
	live_lane alone $(grep -L '^# beside others' tests/live/*.sh)
	wait
	live_again
	cat out/test/results-beside out/test/results-alone >>out/test/results
}

# live_lane NAME SCRIPT...: one after the other, results in a file of its own.
live_lane() (
	results=out/test/results-$1
	: >"$results"
	shift
	for script; do
		! wanted "live/$(basename "$script" .sh)" ||
			live_once "$script"
	done
)

# They watch a machine on which others work, too, and one of thousands of cases
# may meet a moment that it was not made for. So those that failed are run once
# more when nothing else runs, and the summary says so.
live_again() (
	for results in out/test/results-beside out/test/results-alone; do
		for name in $(sed -n 's,^FAIL live/\([a-z_]*\).*,\1,p' \
			$results | sort -u); do
			cp "out/test/live-$name.log" \
				"out/test/live-$name-first.log"
			take_back "live/$name"
			live_once "tests/live/$name.sh"
		done
	done
)

# take_back TEST: what failed of it does not count, and the summary says so.
take_back() {
	sed -n "s,^FAIL \($1[ :].*\),AGAIN \1 (so run once more),p" $results \
		>>out/test/again
	grep -v "^[A-Z]* $1[ :]" $results >$results.rest || true
	mv $results.rest $results
}

live_once() {
	name=$(basename "$1" .sh)
	TMP=$(mktemp -d)
	export TMP
	run_one live "$name" sh -c '. tests/lib.sh; live "$1"' sh "$1"
	rm -rf "$TMP"
}

# guest_unready KERNEL: why it cannot boot, if so. Those of the suite that
# everything else comes from have to.
guest_unready() {
	reason=$( (guest_fetch "$1") 2>&1) && return 1
	verdict=SKIP
	case $1 in *6.1) verdict=FAIL ;; esac
	echo "$verdict guest-$1/run: $(echo "$reason" | tail -n 1)" |
		tee -a out/test/results
}

# guest_results KERNEL: what its tests said counts as if said here.
guest_results() {
	for file in "out/guests/$1/result"/*.status; do
		[ -e "$file" ] || continue
		run_one "guest-$1" "$(basename "$file" .status)" sh -c '
			cat "${1%.status}.log"
			read status seconds <"$1"
			echo "$seconds s there"
			exit "$status"' sh "$file"
	done
}

# guest_once KERNEL [NAME...]: boot it and run all its tests, or those. One that
# does not come to its end within GUEST_LIMIT is killed and has failed.
guest_once() {
	boot="guest-tests $(shift; echo "$*")"
	rm -rf "out/guests/$1/result"
	TEST_LIMIT=$((GUEST_LIMIT + 60)) run_one "guest-$1" run sh -c '
		./build.sh guest -t "$1" "$2" "$3" &&
		echo "PASS to the end"' sh $GUEST_LIMIT "$1" "$boot"
	grep -v '^PASS' "out/test/guest-$1-run.log" | tail -n 20 || true
	guest_results "$1"
}

# guest_again KERNEL: emulation on a busy machine can starve a test, and does
# not bear all that kernels do. So those that failed get one more boot, or all
# when the guest itself did not come to its end, and the summary says so.
guest_again() {
	if grep -q "^FAIL guest-$1/run" $results; then
		sed -n 's/^FAIL \(.*\)/AGAIN \1 (so all run once more)/p' \
			$results >>out/test/again
		cp "out/guests/$1/console" "out/test/console-$1" || true
		: >$results
		guest_once "$1"
		return
	fi
	again=$(sed -n "s,^FAIL guest-$1/\([a-z_]*\).*,\1,p" $results |
		sort -u)
	[ -n "$again" ] || return 0
	for name in run $again; do
		cp "out/test/guest-$1-$name.log" \
			"out/test/guest-$1-$name-first.log"
		take_back "guest-$1/$name"
	done
	guest_once "$1" $again
}

# guest_boots KERNEL: what traces its boot.
guest_boots() {
	run_one "guest-$1" boot sh -c '
		./build.sh guest -t 570 "$1" boot &&
		for text in "Hertz of all threads" \
			"--cgroup /none: No"; do
			grep -qe "$text" "out/guests/$1/console" &&
			echo "PASS on the console: $text" ||
			echo "FAIL on the console: no $text"
		done
	' sh "$1"
}

# guest_desk KERNEL: what is recorded there is named here.
guest_desk() {
	run_one "guest-$1" desk tests/guest/desk "$1"
	grep -q "^FAIL guest-$1/desk" $results || return 0
	take_back "guest-$1/desk"
	run_one "guest-$1" desk tests/guest/desk "$1"
}

# guest_whole KERNEL: all its tests, results in a file of its own.
guest_whole() {
	results=out/test/results-$1
	export GUEST_SLOT=$1
	: >"$results"
	guest_once "$1"
	cp "out/guests/$1/result/doctor" "out/test/doctor-$1" 2>/dev/null ||
		true
	guest_again "$1"
	guest_boots "$1"
	case $1 in
	aarch64-*) guest_desk "$1" ;;
	esac
}

# guest_worker KERNEL...: those that no other worker has begun.
guest_worker() (
	for kernel; do
		! mkdir "out/test/guest-$kernel" 2>/dev/null ||
			guest_whole "$kernel"
	done
)

# guest_build KERNEL: what runs there, before several boot at a time.
guest_build() {
	guest_set "$1"
	cross $cpu
	guest_programs out/guests/programs-$cpu
}

# guest_column KERNEL: its results, and what the table says of it.
guest_column() {
	cat "out/test/results-$1" >>out/test/results
	! grep -q '^FAIL ' "out/test/results-$1" && passed=yes || passed=no
	guest_set "$1"
	[ ! -s "out/test/doctor-$1" ] || table_column $column \
		"$version $cpu" "out/test/doctor-$1" $passed
}

# Two at a time, for each has one thread.
guest_tests() {
	ready=
	for kernel; do
		! guest_unready "$kernel" || continue
		guest_build "$kernel"
		ready="$ready $kernel"
	done
	guest_worker $ready &
	guest_worker $ready
	wait
	column=0
	for kernel; do
		column=$((column + 1))
		[ ! -e "out/test/results-$kernel" ] || guest_column "$kernel"
	done
}

# Each target over its corpus by the file-driven main, then by libFuzzer for
# SECS seconds where clang has it, two at a time. Corpora are made by
# tests/fuzz/seeds.sh.
fuzz_targets() {
	secs=$1 targets=
	for source in tests/fuzz/*.c; do
		name=$(basename "$source" .c)
		[ "$name" != main ] && wanted "fuzz/$name" || continue
		targets="$targets $source"
	done
	[ -n "$targets" ] || return 0
	sh tests/fuzz/seeds.sh out/fuzz
	CC=gcc
	compile out/asan "$BASE $SANITIZE" $targets tests/fuzz/main.c
	for source in $targets; do
		echo "out/test/fuzz-$(basename "$source" .c)" \
			"out/asan/$(object_name "$source")"
	done | link_all "gcc $SANITIZE" out/asan/tests.fuzz.main.o $library
	build_libfuzzer $targets 2>out/test/libfuzzer.log && able=1 || able=0
	two_at_a_time fuzz_target $targets
}

fuzz_target() {
	target=$(basename "$1" .c)
	mkdir -p "out/fuzz/$target"
	run_one fuzz "$target" sh -c '"$1" "$2"/* && echo "PASS corpus"' \
		sh "out/test/fuzz-$target" "out/fuzz/$target"
	libfuzzer "$target"
}

libfuzzer() {
	if [ $able = 0 ]; then
		echo "SKIP fuzz/$1 libfuzzer: clang has no fuzzer runtime" |
			tee -a out/test/results
		return
	fi
	run_one fuzz "$1-libfuzzer" sh tests/fuzz/libfuzzer.sh \
		"out/test/fuzz-$1-libfuzzer" "out/fuzz/$1" "$secs"
}

# build_libfuzzer SOURCE...: false when this clang cannot. (In a subshell, for
# compile gives up when it fails.)
build_libfuzzer() (
	have clang || exit 1
	CC=clang
	flags="$BASE $SANITIZE -fsanitize=fuzzer-no-link"
	rest=$(sources | grep -v src/main.c)
	compile out/fuzzobj "$flags" $rest "$@"
	for source; do
		echo "out/test/fuzz-$(basename "$source" .c)-libfuzzer" \
			"out/fuzzobj/$(object_name "$source")"
	done | link_all "clang $SANITIZE -fsanitize=fuzzer" \
		$(objects out/fuzzobj $rest)
)

summary() {
	passed=$(grep -c '^PASS ' out/test/results || true)
	failed=$(grep -c '^FAIL ' out/test/results || true)
	skipped=$(grep -c '^SKIP ' out/test/results || true)
	grep '^SKIP ' out/test/results || true
	[ ! -e out/test/again ] || cat out/test/again
	grep '^FAIL ' out/test/results || true
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

prepare() {
	rm -rf out/test
	mkdir -p out/test out/fuzz
	build
	build_asan
	: >out/test/results
	# src/main.c holds main(); everything else is the library under test.
	library=$(objects out/asan $(sources | grep -v src/main.c))
}

test_tools() {
	missing=
	for tool in $TEST_TOOLS; do
		have "${tool%%:*}" || missing="$missing ${tool#*:}"
	done
	[ -z "$missing" ] || install_package "$missing" "" || true
	have clang && [ -z "$(find /usr/lib -name 'libclang_rt.fuzzer-*' \
		2>/dev/null | head -n 1)" ] &&
		install_package "$(fuzzer_package)" "" || true
}

# libFuzzer's package carries clang's major version in its name.
fuzzer_package() {
	clang --version | sed -n \
		'1s/.*version \([0-9]*\).*/libclang-rt-\1-dev/p'
}

run_tests() {
	filter=${1:-} kernels=$GUESTS_IN_TEST
	. tests/guest.sh
	. tests/table.sh
	. tests/hosts.sh
	case $filter in
	ci) filter= kernels=$GUESTS_IN_CI ;;
	hosts) run_hosts ""; return ;;
	host-*) run_hosts "${filter#host-}"; return ;;
	guests) run_guests $GUESTS; return ;;
	guest-*) run_guests "${filter#guest-}"; return ;;
	esac
	test_tools
	prepare
	unit_tests
	live_tests
	fuzz_targets "${FUZZ_SECS:-3}"
	if [ -z "$filter" ]; then
		guest_tests $kernels
		run_one guests table sh -c '. tests/table.sh; table_check'
	fi
	summary
}

# All guests, and then the table; or one of them.
run_guests() {
	rm -rf out/test
	mkdir -p out/test
	: >out/test/results
	guest_tests "$@"
	if [ $# -gt 1 ]; then
		table_of_host
		table_write
	fi
	summary
}

run_fuzz() {
	filter=fuzz
	test_tools
	prepare
	TEST_LIMIT=$(($1 + 120)) fuzz_targets "$1"
	summary
}
