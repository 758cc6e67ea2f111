# guest.sh - sonde on other kernels, in QEMU; sourced by build.sh.
#
# A guest is one of Debian's cloud kernels with an initramfs that holds sonde,
# a static busybox, the test programs, the live tests that need no more than
# that, and tests/guest/init. It has no disk and no network. What its command
# wrote comes back as an archive over a serial port of its own, beside the
# console, so that kernel messages never mix with results.
#
#   out/guests/KERNEL/vmlinuz     fetched once
#   out/guests/KERNEL/modules/    the same, what tests/live/modules.sh loads
#   out/guests/KERNEL/root/       the initramfs, unpacked
#   out/guests/KERNEL/console     everything the console showed
#   out/guests/KERNEL/result/     the command's working folder, as it left it
#
# With $GUEST_SLOT set, that names the folder instead of KERNEL, and what runs
# in the guest has been built, so that several can boot at a time.
GUESTS="5.10 6.1 6.12 7.2 aarch64-6.1 aarch64-7.2"
ODD_GUESTS="rt-6.1"	# for tests/hosts.sh alone
# As far as a kernel has them, and not in itself.
GUEST_MODULES="af_alg algif_skcipher ecb glue_helper camellia_generic
	camellia-x86_64"

# guest_set KERNEL: its CPU, Debian's name for that, suite and version, and the
# modules that are of use there.
guest_set() {
	flavour=cloud modules=
	case $1 in
	rt-*) cpu=x86_64 deb=amd64 version=${1#rt-} flavour=rt ;;
	aarch64-*) cpu=aarch64 deb=arm64 version=${1#aarch64-} ;;
	*) cpu=x86_64 deb=amd64 version=$1 modules=$GUEST_MODULES ;;
	esac
	case $version in
	5.10) suite=bullseye ;;
	6.1) suite=bookworm ;;
	6.12) suite=trixie ;;
	7.2) suite=sid ;;
	esac
	case " $GUESTS $ODD_GUESTS " in
	*" $1 "*) guest=out/guests/${GUEST_SLOT:-$1} ;;
	*) die "guest $1: kernels are $GUESTS $ODD_GUESTS" ;;
	esac
}

# guest_kernel: what was fetched before there were modules is fetched again, for
# they fit one kernel only; when that fails, the guest boots without them.
guest_kernel() {
	[ -e "$guest/vmlinuz" ] || { guest_kernel_fetch; return; }
	[ -n "$modules" ] && [ ! -d "$guest/modules" ] || return 0
	guest_kernel_fetch || mkdir -p "$guest/modules"
}

# Newer suites have the image itself in linux-binary-*.
guest_kernel_fetch() {
	tail="$(echo "$version" | sed 's/\./\\./')\..*-$flavour-$deb"
	package=$(debian_newest "$suite" "$deb" "linux-binary-$tail")
	[ -n "$package" ] || package=$(debian_newest "$suite" "$deb" \
		"linux-image-$tail")
	[ -n "$package" ] || { say "Debian $suite has no $tail"; return 1; }
	debian_unpack "$guest/debian" "$suite" "$deb" "$package" || return 1
	mv "$(find "$guest/debian" -name 'vmlinuz*' | head -n 1)" \
		"$guest/vmlinuz"
	[ -z "$modules" ] || guest_modules
	rm -rf "$guest/debian"
}

# guest_modules: keep those of $package, unpacked; where that is the image alone
# they are in linux-modules-*.
guest_modules() {
	name=linux-modules-${package#linux-binary-}
	[ "$package" = "${package#linux-binary-}" ] || debian_unpack \
		"$guest/debian/modules" "$suite" "$deb" "$name" || true
	mkdir -p "$guest/modules"
	for name in $modules; do
		file=$(find "$guest/debian" -name "$name.ko*" | head -n 1)
		case $file in
		*.xz)
			have xz || install_package xz-utils xz || true
			xz -dc "$file" >"$guest/modules/$name.ko" ||
				rm "$guest/modules/$name.ko"
			;;
		?*) cp "$file" "$guest/modules" ;;
		esac
	done
}

# guest_programs FOLDER: the test programs for $cpu; `stripped` is chain,
# without its symbols.
guest_programs() {
	mkdir -p "$1"
	newest=$(ls -t tests/programs/*.c | head -n 1)	# some include others
	for source in tests/programs/*.c; do
		program=$1/$(basename "$source" .c)
		[ "$program" -nt "$newest" ] || link "$program" \
			"$UAPI -Wl,--build-id $(program_flags "$source")" \
			"$source"
	done
	[ "$1/stripped" -nt "$1/chain" ] ||
		$STRIP -o "$1/stripped" "$1/chain"
}

# guest_root_boot: the kernel starts sonde, that becomes tests/guest/boot, which
# goes on to a root of its own where all is as in other guests.
guest_root_boot() {
	mv "$root/init" "$root/real-init"
	cp tests/guest/boot "$root/init"
	cp tests/guest/boot-check "$root/bin"
	chmod +x "$root/init" "$root/bin/boot-check"
	echo boot-check >"$root/command"
	append="$append rdinit=/bin/sonde"
	append="$append -- boot --for=100 --output=/result/boot.svg /init"
}

# guest_root: make the initramfs. sonde comes with its symbols, so that stacks
# show what it does itself.
guest_root() {
	root=$guest/root
	guest_programs out/guests/programs-$cpu
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/programs" "$root/tests/live" \
		"$root/tests/golden" "$root/tests/guest"
	cp "out/guests/busybox-$cpu/bin/busybox" "$root/bin"
	cp "$(cpu_dir $cpu)/sonde.debug" "$root/bin/sonde"
	cp out/guests/programs-$cpu/* "$root/programs"
	[ ! -d "$guest/modules" ] || cp -r "$guest/modules" "$root"
	cp tests/lib.sh "$root/tests"
	cp $(grep -L '^# needs:.* host' tests/live/*.sh) "$root/tests/live"
	cp -r tests/golden/flame "$root/tests/golden"
	cp tests/guest/*.sh "$root/tests/guest"
	cp tests/guest/guest-tests "$root/bin"
	cp tests/guest/init "$root/init"
	chmod +x "$root/init" "$root/bin/"*
	early=0
	[ "${command%% *}" != guest-tests ] || early=1
	printf 'bare=%s shell=%s busy=%s early=%s\n' "$bare" "$shell" \
		"$busy" "$early" >"$root/guest.conf"
	printf '%s\n' "$command" >"$root/command"
	[ "$command" != boot ] || guest_root_boot
	(cd "$root" && find . | sort | cpio -o -H newc -R 0:0 --quiet) |
		gzip -1 >"$guest/initramfs"
}

# guest_qemu SERIAL: run it until it ends or the time is over. One thread runs
# all its CPUs in turn: with a thread for each, QEMU 7.2 now and then goes on to
# run what it made of an instruction that the kernel has replaced since, and
# kernels that are probed replace many (two CPUs then met a breakpoint for ever,
# where none was any more). On a loaded machine an emulated timer seems broken,
# and a TSC unstable, so the kernel is told not to judge them. One that hangs
# all the same ends itself, and the console shows where.
guest_qemu() {
	case $cpu in
	x86_64)
		machine="-M pc -cpu max" console=ttyS0
		clock="no_timer_check tsc=reliable"
		;;
	aarch64)
		machine="-M virt -cpu max,pauth-impdef=on" console=ttyAMA0
		clock=
		;;
	esac
	hang="softlockup_panic=1 watchdog_thresh=30"
	timeout -k 5 $limit qemu-system-$cpu $machine -accel tcg,thread=single \
		-nodefaults -display none -no-reboot -smp 2 -m "$memory" \
		-kernel "$guest/vmlinuz" -initrd "$guest/initramfs" \
		-append "console=$console panic=-1 quiet $clock $hang $append" \
		-serial "$1" -chardev "file,id=port,path=$guest/archive" \
		-device pci-serial,chardev=port $qemu
}

# Unpack what came back; false when it is not whole.
guest_result() {
	rm -rf "$guest/result"
	mkdir -p "$guest/result"
	read -r size sum 2>/dev/null <"$guest/archive" || return 1
	tail -n +2 "$guest/archive" >"$guest/result.tar"
	[ "$(stat -c %s "$guest/result.tar")" = "$size" ] &&
		[ "$(md5sum <"$guest/result.tar" | cut -c1-32)" = "$sum" ] &&
		tar xf "$guest/result.tar" -C "$guest/result"
}

# guest_fetch KERNEL: what must be there before it can boot; else says why not.
guest_fetch() {
	guest_set "$1"
	mkdir -p "$guest"
	need cpio cpio cpio
	[ $cpu = aarch64 ] && package=qemu-system-arm ||
		package=qemu-system-x86
	need qemu-system-$cpu $package qemu-system-$cpu
	guest_kernel && debian_unpack "out/guests/busybox-$cpu" bookworm \
		"$deb" busybox-static
}

# guest_boot: run $command, which ends as it did there, or with 125.
guest_boot() {
	: >"$guest/archive"
	if [ $shell = 1 ]; then
		guest_qemu mon:stdio
		return
	fi
	status=0
	guest_qemu "file:$guest/console" || status=$?
	if guest_result; then
		cat "$guest/result/stdout"
		cat "$guest/result/stderr" >&2
		return "$(cat "$guest/result/status")"
	fi
	[ $status != 124 ] || say "guest $kernel: not done after $limit s"
	say "guest $kernel: no result; the end of its console:"
	tail -n 20 "$guest/console" | tr -d '\r' >&2
	return 125
}

guest() {
	append= memory=1024 qemu= limit=120 bare=0 shell=0 busy=1
	while getopts a:m:q:t:bi option; do
		case $option in
		a) append=$OPTARG ;;
		m) memory=$OPTARG ;;
		q) qemu=$OPTARG ;;
		t) limit=$OPTARG ;;
		b) bare=1 ;;
		i) busy=0 ;;
		*) usage >&2; exit 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	kernel=${1:-} command=${2:-guest-tests}
	case $command in
	guest-tests*|boot) busy=0 ;;
	esac
	[ $# -gt 1 ] || [ ! -t 0 ] || shell=1 limit=0
	guest_fetch "$kernel" || die "guest $kernel cannot be fetched"
	[ -n "${GUEST_SLOT:-}" ] || cross $cpu
	guest_root
	guest_boot || return
	[ "$command" != boot ] ||
		say "guest $kernel: flame graph of its boot:" \
			"$guest/result/boot.svg"
}
