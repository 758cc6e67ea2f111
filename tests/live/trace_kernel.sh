# trace_kernel - functions of the kernel: arguments, results, system calls.
# needs: root
# needs: kprobes
program traced

trace() {
	status=0
	"$SONDE" trace "$@" >"$TMP/out" 2>"$TMP/err" || status=$?
}

# shows NAME REGEX: a line has this behind its first four columns.
shows() {
	sed -n '2,$s/^[0-9]*  *[0-9]*  *[^ ]*  *//p' "$TMP/out" |
		sed 's/  */ /' | grep -qxE -- "$2" && pass "$1" ||
		fail "$1" "no line '$2' in: $(head -n 20 "$TMP/out"
			cat "$TMP/err")"
}

: >"$TMP/file"
opens="cat '$TMP/file' '$TMP/none' 2>/dev/null; true"
btf=
[ -e /sys/kernel/btf/vmlinux ] && btf=1

trace -s 2 do_sys_openat2 r::do_sys_openat2 -- sh -c "$opens"
if [ $btf ]; then
	shows "arguments by their types" "do_sys_openat2 dfd=-100\
 filename=\"$TMP/none\" how=0xf[0-9a-f]*"
	shows "result with its name" "do_sys_openat2 retval=-2 ENOENT"
else
	shows "arguments without types" "do_sys_openat2 arg1=0xf*9c\
 arg2=\"$TMP/none\" arg3=0xf.*"
fi
shows "result" "do_sys_openat2 retval=[0-9]"

# bcc's filters and formats, with what BTF and the system call's format know.
trace 'r::do_sys_openat2 (retval < 0) "failed %d", retval' \
	"openat(int dfd, char *s) (dfd == -100 && STRCMP(\"$TMP/none\", s))\
 \"%d %s\", dfd, arg2@user" -- sh -c "$opens"
shows "a failed call" "do_sys_openat2 failed -2"
shows "a call's arguments" "openat -100 $TMP/none"
! grep -q 'failed [0-9]' "$TMP/out" && pass "no call that worked" ||
	fail "no call that worked" "$(cat "$TMP/out")"

# A system call by each of its names.
x=__x64_sys_openat
[ "$(uname -m)" = aarch64 ] && x=__arm64_sys_openat
for name in openat sys_openat $x __se_sys_openat; do
	grep -q " $name\$" /proc/kallsyms || [ $name != __se_sys_openat ] ||
		continue
	trace -s 2 "$name" "r::$name" -- sh -c "$opens"
	shows "$name" "$name dfd=-100 filename=\"$TMP/file\" flags=[0-9]*\
 mode=[0-9]*"
	shows "$name fails" "$name retval=-2 ENOENT"
done
trace kill -- sh -c 'kill -0 $$'
shows "kill" "kill pid=[0-9]+ sig=0"

trace -K -U -s 2 r::do_sys_openat2 -- sh -c "$opens"
# Before 5.15 the stack of a result ends where kprobes come in.
caller='[a-z_0-9]*sys_openat'
kernel_is 5.15 || caller=kretprobe_trampoline
grep -q "^        $caller" "$TMP/out" && pass "kernel stack of a result" ||
	fail "kernel stack of a result" "$(cat "$TMP/out" "$TMP/err")"
grep -q '^        ' "$TMP/out" && ! grep -q lost "$TMP/err" &&
	pass "nothing lost" || fail "nothing lost" "$(cat "$TMP/err")"

# Many at once; what each of them is.
trace 'vfs_rea[d]' 'vfs_w*' -- sh -c "cat '$TMP/file'; echo hello"
if [ $btf ]; then
	shows "of many" "vfs_write file=0xf[0-9a-f]* buf=0x[0-9a-f]* count=6\
 pos=0x[0-9a-f]*|vfs_write file=0xf[0-9a-f]* buf=0x[0-9a-f]* count=6 pos=.*"
fi
