# book - the examples of a book chapter on tracing with BPF, as a reader would
# try them: their counterparts here, and results that are known.
# needs: root
program hello_usdt execs calls
cd "$TMP" || exit 1

says() { grep -qE -- "$2" out && pass "$1" ||
	fail "$1" "no '$2': $(head -n 20 out) $(tail -n 3 err)"; }
run() { timeout 60 "$SONDE" "$@" >out 2>err; }

# The name of every program that is executed, at the call and at its return.
echo 'for i in 1 2 3; do ./calls 1; done; ./nonesuch; true' >script
if meets "kernel>=5.3"; then
	run execsnoop -- sh ./script
	same=$(grep -c '\./calls 1$' out)
	[ "$same" = 3 ] && pass "every program executed" ||
		fail "every program executed" "$(cat out err)"
	run execsnoop --count -- sh ./script
	says "how often each" '^\./calls  *3$'
fi
run trace t:sched:sched_process_exec -- sh ./script
[ "$(grep -c 'filename="\./calls"' out)" = 3 ] &&
	pass "by the tracepoint" || fail "by the tracepoint" "$(cat out err)"
run trace -s 1 t:syscalls:sys_enter_execve -- sh ./script
[ "$(grep -c 'sys_enter_execve .*filename="\./calls"' out)" = 3 ] &&
	pass "at execve, the name" ||
	fail "at execve, the name" "$(cat out err)"
run trace t:syscalls:sys_exit_execve -- sh ./script
[ "$(grep -c '^[0-9 ]* calls .*sys_exit_execve .*ret=0x0$' out)" = 3 ] &&
	pass "at its return, 0" || fail "at its return, 0" "$(cat out err)"
if needs "execve as a function" kprobes; then
	run trace -s 1 execve -- sh ./script
	[ "$(grep -c '"\./calls"' out)" = 3 ] &&
		pass "execve as a function" ||
		fail "execve as a function" "$(cat out err)"
	run trace r::execve -- sh ./script
	[ "$(grep -c '^[0-9 ]* calls .*=0' out)" = 3 ] &&
		pass "its return" || fail "its return" "$(cat out err)"
fi

# Who loads BPF programs, and how long that takes: sonde itself does, as the
# command. `bpf` is the call behind all of that.
loads() { echo "$SONDE" funccount "$TMP/calls:rec" -- true; }
run trace t:syscalls:sys_enter_bpf -- $(loads)
says "who calls bpf(2)" '^[0-9 ]* sonde  *syscalls:sys_enter_bpf .*cmd=0x5 '
if needs "bpf_prog_load" kprobes; then
	run trace bpf_prog_load -- $(loads)
	says "who loads BPF programs" '^[0-9 ]* sonde  *bpf_prog_load '
	run stackcount -K bpf_prog_load -- $(loads)
	says "from where" '^  .*sys_bpf$'
	run funclatency bpf_prog_load -- $(loads)
	says "how long that takes" 'count: [1-9]'
	says "as a histogram" '\|\*\*\*'
	run stacksnoop -M 1 bpf_prog_load -- $(loads)
	says "the stack at once" '^	bpf_prog_load$'
	says "down to the call" '^	.*sys_bpf$'
fi
if needs "the kernel's stack at a return" kprobes; then
	run trace r::do_sys_openat2 -K -- cat script
	says "the kernel's stack at a return" \
		'^[0-9 ]* cat  *do_sys_openat2  *retval=[0-9]'
	caller=sys_openat
	kernel_is 5.15 || caller=kretprobe_trampoline
	says "with its caller" "^        .*$caller"
fi

# A USDT probe of a name that is no identifier, in every spelling.
for probe in "u:$TMP/hello_usdt:probe-main" \
	"usdt:$TMP/hello_usdt:hello-usdt:probe-main" \
	"usdt:./hello_usdt:probe-main" \
	"usdt:./hello_usdt:hello__usdt:probe__main" \
	"usdt:./hello_usdt:*:*"; do
	n=${probe#*hello_usdt:}
	run funccount "$probe" -- ./hello_usdt 700
	says "a USDT probe: $n" '^hello-usdt:probe-main  *700$'
	run trace "$probe" -- ./hello_usdt 3
	[ "$(sed -n 's/.*hello-usdt:probe-main arg1=//p' out | tr '\n' ' ')" \
		= "1 2 3 " ] && pass "its argument: $n" ||
		fail "its argument: $n" "$(cat out err)"
done
run list -l ./hello_usdt
says "it is listed" 'hello-usdt:probe-main$'

# main.main of a Go program, and its duration.
if ! in_guest && needs "a Go program" go; then
	cat >main.go <<'GO'
package main

import (
	"fmt"
	"time"
)

func main() {
	time.Sleep(40 * time.Millisecond)
	fmt.Println("done")
}
GO
	export GOCACHE="$TMP/gocache" GOPATH="$TMP/gopath" GO111MODULE=off
	check "a Go program is built" go build -o hello-go main.go
	run funccount "$TMP/hello-go:main.main" -- ./hello-go
	says "main.main" '^main\.main  *1$'
	says "it still works" '^done$'
	run trace "uprobe:./hello-go:main.main" -- ./hello-go
	says "traced" '^[0-9 ]* hello-go  *main\.main'
	run funclatency -m ./hello-go:main.main -- ./hello-go
	says "how long it takes" '^ *[0-9]* -> [0-9]*  *: 1 '
	says "and it is not killed" '^done$'
	run funccount -r "$TMP/hello-go:^main\\.main\$" -- ./hello-go
	says "by an expression" '^main\.main  *1$'
fi
