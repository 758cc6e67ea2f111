# hosts.sh - small and odd hosts: guests with other command lines, each for one
# test of tests/hosts/ (see its lib.sh); sourced by run.sh.
#
# They mostly wait, so two boot at a time, each in a folder of its own
# (out/guests/slot1 and 2).

# hosts_named NAME: the tests, all or that one.
hosts_named() {
	for script in $(grep -l '^# guest: ' tests/hosts/*.sh); do
		name=$(basename "$script" .sh)
		[ -n "$1" ] && [ "$1" != "$name" ] || echo "$name"
	done
}

# hosts_boots NAME...: a line "NAME KERNEL OPTION..." for each guest.
hosts_boots() {
	for name; do
		sed -n "s/^# guest: /$name /p" "tests/hosts/$name.sh"
	done
}

# hosts_ready KERNEL: fetch and build what it takes.
hosts_ready() {
	! guest_unready "$1" || return 0
	guest_build "$1"
	: >"out/test/ready-$1"
}

# host_boot NAME KERNEL OPTION...: its results, as of a test here.
host_boot() {
	name=$1 kernel=$2
	shift 2
	[ -e "out/test/ready-$kernel" ] || return 0
	mkdir -p "out/guests/$slot/modules"	# none: they are small
	cp "out/guests/$kernel/vmlinuz" "out/guests/$slot"
	export GUEST_SLOT=$slot HOST="host-$name/$kernel"
	TEST_LIMIT=620 run_one "host-$name" "$kernel" tests/hosts/boot \
		./build.sh guest -i -t 300 "$@" "$kernel" \
		"$(cat tests/hosts/lib.sh "tests/hosts/$name.sh")"
}

# hosts_slot SLOT 0-or-1: the even boots, or the odd ones.
hosts_slot() {
	slot=$1
	awk -v from="$2" 'NR % 2 == from' out/test/boots |
	while read -r line; do
		eval "host_boot $line" </dev/null
	done
}

run_hosts() {
	names=$(hosts_named "$1")
	[ -n "$names" ] || die "no test host-$1: $(hosts_named "" |
		sed 's/^/host-/' | tr '\n' ' ')"
	rm -rf out/test
	mkdir -p out/test
	: >out/test/results
	hosts_boots $names >out/test/boots
	for kernel in $(cut -d' ' -f2 out/test/boots | sort -u); do
		hosts_ready "$kernel"
	done
	hosts_slot slot1 1 &
	hosts_slot slot2 0
	wait
	[ ! -e out/test/again ] || cat out/test/again
	summary
}
