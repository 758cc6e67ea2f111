#!/bin/sh
# build.sh - build, run and test sonde; `./build.sh help` lists the verbs.
#
# No make: the whole program compiles in seconds. Objects go to out/, one
# folder per variant, and are rebuilt when their source or any header is newer.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C

WARN="-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
	-Wno-missing-field-initializers"
BASE="-std=c11 -D_GNU_SOURCE -Iinclude -Isrc $WARN -fno-strict-aliasing"
# No path of the build folder reaches the bytes, for all names are relative and
# there is no debug information: the same commit gives the same file.
SMALL="-Oz -fno-pie -fno-asynchronous-unwind-tables -fno-stack-protector
	-ffunction-sections -fdata-sections -fno-ident -fno-jump-tables
	-fno-caller-saves"
# Names by the hundred thousand go through these: they may cost 2.9 KB more.
HOT="src/sym/demangle.c src/sym/demangle_cxx.c src/sym/demangle_cxx_name.c
	src/sym/demangle_rust.c src/sym/demangle_rust_legacy.c"
FAST="-O2 -fno-inline-functions -falign-functions=1 -falign-jumps=1
	-falign-loops=1 -falign-labels=1 -fjump-tables -fcaller-saves"
# The last option keeps the linker from padding up to the next page when it
# would spare a page of memory: sizes would jump by up to 4 KB.
LINK="-Wl,--gc-sections,--build-id=sha1,-z,noseparate-code,-z,norelro
	-Wl,--sort-section=alignment,-z,common-page-size=64"
SANITIZE="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
	-fno-sanitize-recover=undefined"

say() { printf '%s\n' "$*" >&2; }
die() { say "build.sh: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
jobs() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

# need COMMAND DEB-PACKAGE APK-PACKAGE: install what is missing when we may,
# else name it.
need() {
	have "$1" && return 0
	install_package "$2" "$3"
	have "$1" || die "$1 is missing: install the package $2"
}

# install_package DEB APK
install_package() {
	if [ "$(id -u)" = 0 ] && have apt-get; then
		say "build.sh: installing $1"
		if [ ! -e out/.apt ]; then
			mkdir -p out
			apt-get update -q >/dev/null 2>&1 || true
			: >out/.apt
		fi
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
			--no-install-recommends $1 >/dev/null 2>&1 || return 1
	elif [ "$(id -u)" = 0 ] && have apk; then
		say "build.sh: installing $2"
		apk add -q $2 >/dev/null || return 1
	else
		say "build.sh: as root this would install: $1"
		return 1
	fi
}

native() { uname -m; }

# The compiler that links against musl: musl-gcc beside glibc, or the host's.
musl_cc() {
	STRIP=strip START= END=
	if have cc && cc -dumpmachine | grep -q musl; then
		[ -e /usr/include/linux/bpf.h ] || install_package \
			linux-libc-dev linux-headers ||
			die "linux/bpf.h is missing: install linux-headers"
		CC=cc UAPI=
		return
	fi
	need gcc gcc "gcc musl-dev"
	need musl-gcc musl-tools musl-dev
	[ -e /usr/include/linux/bpf.h ] || install_package linux-libc-dev \
		linux-headers || die "install linux-libc-dev"
	CC=musl-gcc UAPI="-isystem out/uapi"
	link_uapi
}

# musl-gcc does not look into /usr/include; give it the kernel's part alone.
link_uapi() {
	asm=/usr/include/$(gcc -print-multiarch)/asm
	[ -d "$asm" ] || asm=/usr/include/asm
	mkdir -p out/uapi
	ln -sfn /usr/include/linux out/uapi/linux
	ln -sfn /usr/include/asm-generic out/uapi/asm-generic
	ln -sfn "$asm" out/uapi/asm
}

# cpu_cc CPU: as musl_cc, but for programs of that CPU. Debian's compiler for it
# comes without musl: that, and the kernel's headers, are unpacked beside us.
cpu_cc() {
	case $1 in
	x86_64) deb=amd64 tools=gcc-x86-64-linux-gnu ;;
	aarch64) deb=arm64 tools=gcc-aarch64-linux-gnu ;;
	*) die "$1: CPUs are x86_64 and aarch64" ;;
	esac
	if [ "$1" = "$(native)" ]; then
		musl_cc
		return
	fi
	CC=$1-linux-gnu-gcc STRIP=$1-linux-gnu-strip root=out/$1/debian
	need "$CC" "$tools" "$tools"
	debian_unpack "$root" bookworm "$deb" musl-dev linux-libc-dev ||
		die "no musl for $1"
	lib=$root/usr/lib/$1-linux-musl
	UAPI="-nostdinc -isystem $root/usr/include/$1-linux-musl
		-isystem $root/usr/include
		-isystem $root/usr/include/$1-linux-gnu"
	START="-nostdlib $lib/crt1.o $lib/crti.o"
	END="-Wl,--start-group $lib/libc.a $($CC -print-libgcc-file-name)
		-Wl,--end-group $lib/crtn.o"
}

# cpu_dir CPU: where its sonde is built.
cpu_dir() { [ "$1" = "$(native)" ] && echo out || echo "out/$1"; }

# program_flags SOURCE: how a test program is compiled; it may say so itself.
program_flags() {
	flags=$(sed -n 's,^/\* flags: \(.*\) \*/$,\1,p' "$1")
	frames="-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer"
	echo "${flags:--O0 $frames}"
}

sources() { find bpfasm src -name '*.c' | sort; }
cool_sources() { sources | grep -vxF "$(printf '%s\n' $HOT)"; }

# compile DIR FLAGS SOURCE...: objects into DIR, two at a time or more. One is
# made anew when its source, any header, or the flags have changed.
compile() {
	dir=$1 flags=$2
	shift 2
	mkdir -p "$dir"
	[ "$(cat "$dir/.flags" 2>/dev/null)" = "$CC $flags" ] ||
		rm -f "$dir"/*.o
	printf '%s' "$CC $flags" >"$dir/.flags"
	header=$(ls -t $(find include src tests -name '*.h') | head -n 1)
	for file; do
		object=$dir/$(object_name "$file")
		if [ ! -e "$object" ] || [ "$file" -nt "$object" ] ||
		   [ "$header" -nt "$object" ]; then
			echo "$file"
		fi
	done >"$dir/.todo"
	if [ -s "$dir/.todo" ]; then
		# A file that fails leaves no object, so the next build
		# compiles it again.
		OBJDIR=$dir FLAGS=$flags CC=$CC xargs -n 1 -P "$(jobs)" sh -c '
			o=$OBJDIR/$(echo "$1" | tr / .)
			$CC $FLAGS -c -o "${o%.c}.o" "$1"
		' sh <"$dir/.todo" || die "compilation failed"
	fi
}

object_name() { echo "$1" | sed 's,/,.,g; s,\.c$,.o,'; }

objects() {
	dir=$1
	shift
	for file; do
		echo "$dir/$(object_name "$file")"
	done
}

# link FILE FLAGS OBJECT-OR-SOURCE...: a static program for $CC's machine.
link() {
	file=$1 flags=$2
	shift 2
	$CC $flags -static -no-pie -o "$file" $START "$@" $END
}

# build_into DIR: sonde for $CC's machine.
build_into() {
	compile "$1/hot" "$BASE $SMALL $FAST $UAPI" $HOT
	compile "$1/obj" "$BASE $SMALL $UAPI" $(cool_sources)
	link "$1/sonde.debug" "$LINK" $(objects "$1/hot" $HOT) \
		$(objects "$1/obj" $(cool_sources))
	$STRIP -o "$1/sonde.tmp" --strip-all \
		-R .comment -R .note.gnu.property "$1/sonde.debug"
	mv "$1/sonde.tmp" "$1/sonde"
}

build() {
	musl_cc
	build_into out
}

cross() {
	cpu_cc "$1"
	build_into "$(cpu_dir "$1")"
}

# Both binaries, and what to compare them by.
release() {
	mkdir -p out/release
	for cpu in x86_64 aarch64; do
		cross $cpu
		cp "$(cpu_dir $cpu)/sonde" out/release/sonde-$cpu
	done
	cd out/release
	sha256sum sonde-* | tee SHA256SUMS
	wc -c sonde-*
}

# The same sources under the sanitizers, against glibc (musl-gcc has none).
build_asan() {
	need gcc gcc "gcc musl-dev"
	CC=${CC_ASAN:-gcc}
	compile out/asan "$BASE $SANITIZE" $(sources)
	$CC $SANITIZE -o out/sonde-asan $(objects out/asan $(sources))
}

run() {
	build
	out/sonde profile -F 99 --output flame.svg --top 10 5
	say "flame.svg: open it in any browser"
}

clean() { rm -rf out flame.svg; }

usage() {
	cat <<'EOF'
./build.sh             build out/sonde: static, stripped, for this CPU
./build.sh run         build it, profile this machine for 5 s: flame.svg
./build.sh test [NAME] all tests, or those whose name contains NAME
./build.sh test ci     the same with more guests, as on each change
./build.sh test guests the live tests on each of the guests' kernels, or on
                       one: guest-KERNEL
./build.sh test hosts  small and odd hosts, guests with other command lines, or
                       one: host-NAME
./build.sh bench [NAME] measure, beside the peers that are installed
./build.sh cross CPU   build out/CPU/sonde; CPUs are x86_64 and aarch64
./build.sh release     build both into out/release/, with their SHA-256
./build.sh guest [OPTIONS] KERNEL [COMMAND]
                       boot another kernel in QEMU and run COMMAND there, else
                       a shell on a terminal, else the tests. KERNEL: 5.10 6.1
                       6.12 7.2 rt-6.1 (x86_64) aarch64-6.1 aarch64-7.2. What
                       COMMAND leaves in its folder is in
                       out/guests/KERNEL/result/.
                       The command `boot` profiles the guest's own boot, from
                       the first process to a new root: boot.svg is there.
	-m MIB   memory (1024)      -a ARGS  more on the kernel's command line
	-t SECS  time limit (120)   -q ARGS  more for QEMU
	-b       nothing is mounted     -i       idle: no busy program beside it
./build.sh asan        build out/sonde-asan with ASan and UBSan
./build.sh fuzz [SECS] fuzz every parser for SECS seconds each (60)
./build.sh clean       remove out/
EOF
}

. tests/debian.sh

case ${1-build} in
build) build ;;
run) run ;;
test) shift; . tests/run.sh; run_tests "$@" ;;
bench) shift; . tests/bench/bench.sh; run_bench "$@" ;;
cross) cross "${2:-}" ;;
release) release ;;
guest) shift; . tests/guest.sh; guest "$@" ;;
asan) build_asan ;;
fuzz) shift; . tests/run.sh; run_fuzz "${1:-60}" ;;
clean) clean ;;
help|-h|--help) usage ;;
*) usage >&2; exit 2 ;;
esac
