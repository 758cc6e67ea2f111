# modules - two modules of the kernel that each have a function of one name, and
# one that is loaded meanwhile.
# needs: root
# needs: kprobes
if [ ! -e /modules/camellia_generic.ko ]; then
	skip modules "no two modules that share a function's name are at hand"
	exit 0
fi
cd "$TMP" || exit 1
program crypt
f=camellia_encrypt one=camellia_generic other=camellia_x86_64
one_name='ecb(camellia-generic)' other_name='ecb(camellia-asm)'

# load NAME...: those that this kernel has as files.
load() {
	for m; do
		[ ! -e "/modules/$m.ko" ] || insmod "/modules/$m.ko" || exit 1
	done
}

# Loaded when the kernel was sampled already.                          G1-08
load af_alg algif_skcipher ecb glue_helper
"$SONDE" profile -f -K --comm crypt -F 999 -- sh -c "./crypt 'ecb(aes)' 20000
	insmod /modules/$one.ko && ./crypt '$one_name' 60000" >found 2>notes
grep -q "[;]skcipher_recvmsg;.*[;]$f [0-9]" found &&
	pass "loaded while a profile runs" ||
	fail "loaded while a profile runs" "$(tail -n 5 found) $(cat notes)"
load camellia-x86_64
if ! ./crypt "$one_name" || ! ./crypt "$other_name"; then
	fail crypt "the kernel does not encrypt so"
	exit 0
fi
[ "$(grep -c " $f	" /proc/kallsyms)" = 2 ] && pass "two of one name" ||
	fail "two of one name" "$(grep " $f" /proc/kallsyms)"

# watch COMMAND ARGUMENTS...: three calls of one, five of the other.   G1-06
watch() {
	timeout 120 "$SONDE" "$@" -- sh -c "./crypt '$one_name' 3
		./crypt '$other_name' 5" >found 2>notes
}

# counts NAME "[FUNCTION COUNT]..." ARGUMENTS...
counts() {
	n=$1 want=$2
	shift 2
	watch funccount "$@"
	got=$(sed '1,/^FUNC/d' found | awk '{ printf "[%s %s]", $1, $2 }')
	[ "$got" = "$want" ] && pass "$n" ||
		fail "$n" "$got" "$(cat notes)"
}

# several NAME: the last of them said so.
several() {
	grep -q "^note: $f: 2 functions of the kernel have this name" notes &&
		pass "$1" || fail "$1" "$(cat notes)"
}

both="[$one:$f 3][$other:$f 5]"
for way in '' kprobe_pmu; do
	w=${way:+ without $way}
	export SONDE_WITHOUT=$way
	counts "one module's$w" "[$f 3]" "kprobe:$one:$f"
	counts "the other's$w" "[$f 5]" "kprobe:$other:$f"
	counts "the name alone: both$w" "[$f 8]" $f
	several "which is said$w"
done
unset SONDE_WITHOUT
counts "returns of the other's" "[$f 5]" "kretprobe:$other:$f"
counts "returns of both" "[$f 8]" "r::$f"
counts "each by its module" "$both" "kprobe:$one:$f" "kprobe:$other:$f"
counts "a pattern: both" "$both" 'camellia_encryp*'
counts "a pattern of modules: both" "$both" "kprobe:camellia_*:$f"
counts "a pattern of one module" "[$f 5]" "kprobe:$other:camellia_e*pt"

# refused NAME TEXT SPEC
refused() {
	watch funccount "$3"
	[ $? = 1 ] && grep -qF "$2" notes &&
		grep -qxF "hint: there is kprobe:$one:$f" notes &&
		grep -qxF "hint: there is kprobe:$other:$f" notes &&
		pass "$1" || fail "$1" "$(cat found notes)"
}
refused "not in this module" "no such function in the module af_alg" \
	"kprobe:af_alg:$f"
refused "no such module" "no module camellia is loaded" "kprobe:camellia:$f"

"$SONDE" list "$f" >found 2>notes
[ "$(cat found)" = "kprobe:$one:$f
kprobe:$other:$f" ] && pass "list has both" || fail "list has both" \
	"$(cat found notes)"

# Stacks: names of the modules' functions, and those of who calls them.
watch stackcount "kprobe:$one:$f"
[ "$(grep -c "^  $f\$" found)" = 1 ] &&
	grep -q '^  skcipher_recvmsg' found && grep -qx '    3' found &&
	pass stackcount || fail stackcount "$(cat found notes)"
# Before 5.12 the kernel cannot unwind what is in arch/x86/crypto.
watch trace -K "kprobe:$other:$f"
[ "$(grep -c "^[0-9].* crypt  *$f" found)" = 5 ] &&
	[ "$(grep -c "^        $f\$" found)" = 5 ] &&
	{ ! kernel_is 5.12 || grep -q '^        skcipher_recvmsg' found; } &&
	pass trace || fail trace "$(cat found notes)"
sed -n "s/^\([0-9a-f]*\) t $f\t.*/\1/p" /proc/kallsyms |
	"$SONDE" sym -k | sort >found 2>notes
[ "$(cat found)" = "$f+0x0 [$one]
$f+0x0 [$other]" ] && pass "sym of both" ||
	fail "sym of both" "$(cat found notes)"
