# asm.sh - every program against its golden dump, for both event buffers.
# beside others
# needs: host

# golden NAME BUFFER: tests/golden/asm/NAME.BUFFER.txt is what is linked.
golden() {
	file=tests/golden/asm/$1.$2.txt
	if ! "$SONDE" asm "$1" "--$2" >"$TMP/dump" 2>"$TMP/errors"; then
		fail "golden-$1-$2" "$(cat "$TMP/errors")"
	elif diff -u "$file" "$TMP/dump" >"$TMP/diff"; then
		pass "golden-$1-$2"
	else
		cat "$TMP/diff"
		fail "golden-$1-$2" "differs; if that is meant:" \
			"out/sonde asm $1 --$2 >$file"
	fi
}

commands=$("$SONDE" asm | awk 'NR > 1 { print $1 }' | sort -u)
[ -n "$commands" ] || fail list "sonde asm lists nothing"
for name in $commands; do
	golden "$name" ring-buffer
	golden "$name" perf-buffer
done
for file in tests/golden/asm/*.txt; do
	name=$(basename "$file" | cut -d. -f1)
	case " $(echo $commands) " in
	*" $name "*) ;;
	*) fail stale "$file belongs to no command" ;;
	esac
done
check offline "$SONDE" asm --check

# refused NAME TEXT ARGS...: exit status 2 and a message with TEXT.
refused() {
	name=$1 text=$2
	shift 2
	status=0
	"$SONDE" asm "$@" >"$TMP/stdout" 2>"$TMP/stderr" || status=$?
	if [ $status = 2 ] && [ ! -s "$TMP/stdout" ] &&
	   grep -qF -- "$text" "$TMP/stderr"; then
		pass "$name"
	else
		fail "$name" "status $status, $(cat "$TMP/stderr")"
	fi
}
refused nearest "the nearest is: sonde asm profile" profil
refused no-kernel-half "puts nothing in the kernel" flame
refused unknown "no such command" zzzzzz
refused one-name "takes one command" profile flame
refused one-buffer "exclude each other" --ring-buffer --perf-buffer
