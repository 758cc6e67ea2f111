# kernel_list.sh - kernel functions named by a list that was brought along: of
# the same kernel, wherever it lay then, and of another one.
# needs: root
cd "$TMP" || exit 1
program naps

# A kernel that lay 4 GiB (in aarch64's lists, some more) lower: whole pages.
sed 's/^ffffffff\([89a-f]\)/fffffffe\1/; s/^ffff\([89a-f]\)/fffe\1/' \
	/proc/kallsyms >moved
# One whose functions lie otherwise; it may have what the list begins with.
awk '{
	if (++n % 7 == 0)
		last = $1
	print (last ? last : $1) " " $2 " " $3
}' /proc/kallsyms >other
grep -v ' _stext$' /proc/kallsyms >without

# waits NAME OPTION...: the stack of a program that sleeps.
waits() {
	name=$1
	shift
	timeout 60 "$SONDE" offcputime -K -f "$@" -- ./naps threads \
		>folded 2>notes
	grep -q 'do_nanosleep' folded && pass "$name" ||
		fail "$name" "$(head -n 3 folded) $(cat notes)"
}

# refused NAME TEXT OPTION...
refused() {
	name=$1 text=$2
	shift 2
	timeout 60 "$SONDE" profile -K -f "$@" 1 >folded 2>notes
	[ $? = 1 ] && [ ! -s folded ] && grep -q "$text" notes &&
		pass "$name" || fail "$name" "$(cat notes)"
}

waits "the list of this boot" --kallsyms /proc/kallsyms
waits "a list of another boot" --kallsyms moved
waits "the same as System.map" --system-map moved
refused "a list of another build" 'not of the kernel that runs' \
	--system-map other
refused "a list without _stext" 'with _stext' --kallsyms without
refused "no list" 'No such file' --system-map none
printf 'no list\n' >none
refused "a file that is none" 'not a list' --system-map none

# All the same names as by the kernel's own list.
awk '$3 ~ /^(do_nanosleep|do_sys_poll|schedule|vfs_read)$/ { print $1 }' \
	/proc/kallsyms >addresses
"$SONDE" sym -k <addresses >own 2>notes
"$SONDE" sym -k --kallsyms moved <addresses >theirs 2>>notes
[ -s own ] && cmp -s own theirs && pass "sym -k" ||
	fail "sym -k" "$(cat own theirs notes)"
"$SONDE" sym --kallsyms moved <addresses >theirs 2>>notes
grep -q '^0x' theirs && ! grep -q '+' theirs &&
	pass "sym of another kernel" ||
	fail "sym of another kernel" "$(cat theirs notes)"

# Of a module, such a list does not know where it lies now.
{
	cat /proc/kallsyms
	printf 'ffffffffc0001000 t made_up\t[m]\n'
	printf 'ffffffffc0001100 t made_up_too\t[m]\n'
} >module
[ "$("$SONDE" sym -k --kallsyms module ffffffffc0001010)" = \
	0xffffffffc0001010 ] &&
	[ "$("$SONDE" sym --kallsyms module ffffffffc0001010)" = \
		'made_up+0x10 [m]' ] && pass "a module of the list" ||
	fail "a module of the list"

# Recorded where the kernel tells nothing, named by a list later.
unshare -m sh -c '
	mount --bind /dev/null /proc/kallsyms &&
	exec timeout 60 "$@"' sh "$SONDE" offcputime -K --raw x.raw -- ./naps \
	threads 2>notes
"$SONDE" report -f --system-map moved x.raw >folded 2>>notes
grep -q 'hrtimer_nanosleep;do_nanosleep;schedule' folded &&
	pass "a record without a list" ||
	fail "a record without a list" "$(head -n 3 folded) $(cat notes)"
"$SONDE" report -f --system-map other x.raw >folded 2>notes
! grep -q nanosleep folded && grep -q 'do not lie as in the list' notes &&
	pass "a record, and a list of another build" ||
	fail "a record, and a list of another build" "$(cat folded notes)"
