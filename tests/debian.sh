# debian.sh - packages of any Debian suite and CPU, unpacked and not installed;
# sourced by build.sh.
#
# They come through an apt of their own in out/apt/, which leaves that of the
# machine as it is.
tree=$PWD

# The machine's own mirror, for no host name stands in this tree.
debian_mirror() {
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	apt-get update --print-uris 2>/dev/null | sed -n \
		"s,^'\(.*\)/dists/$codename/InRelease' .*,\1,p" | head -n 1
}

# debian_apt SUITE ARCH TOOL ARGUMENT...: apt-get or apt-cache over there.
debian_apt() {
	apt=$tree/out/apt/$1-$2 arch=$2 tool=$3
	shift 3
	"$tool" -q -o Dir::Etc::sourcelist="$apt/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" \
		-o Dir::State::status=/dev/null -o APT::Sandbox::User=root \
		-o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# debian_update SUITE ARCH: fetch the lists, once.
debian_update() {
	apt=$tree/out/apt/$1-$2
	[ ! -e "$apt/.done" ] || return 0
	have apt-get && have dpkg || { say "no apt-get and dpkg"; return 1; }
	mirror=$(debian_mirror)
	[ -n "$mirror" ] || { say "apt has no Debian mirror"; return 1; }
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	echo "deb [signed-by=$keys] $mirror $1 main" >"$apt/sources.list"
	if ! debian_apt "$1" "$2" apt-get update >"$apt/log" 2>&1 ||
	   grep -q '^[EW]: ' "$apt/log"; then
		say "Debian $1: $(grep '^[EW]: ' "$apt/log" | head -n 1)"
		return 1
	fi
	: >"$apt/.done"
}

# debian_newest SUITE ARCH REGEX: of the packages whose whole name it matches,
# the one with the highest version in its name.
debian_newest() {
	debian_update "$1" "$2" &&
		debian_apt "$1" "$2" apt-cache search --names-only "^$3\$" |
		cut -d' ' -f1 | sort -V | tail -n 1
}

# debian_unpack FOLDER SUITE ARCH PACKAGE...: once.
debian_unpack() {
	folder=$1 suite=$2 arch=$3
	shift 3
	[ ! -e "$folder/.done" ] || return 0
	debian_update "$suite" "$arch" || return 1
	rm -rf "$folder"
	mkdir -p "$folder/.debs"
	say "build.sh: fetching $* of Debian $suite for $arch"
	if ! (cd "$folder/.debs" && debian_apt "$suite" "$arch" \
		apt-get download "$@") >"$folder/.log" 2>&1; then
		say "Debian $suite: $(grep '^E: ' "$folder/.log" | head -n 1)"
		return 1
	fi
	for archive in "$folder"/.debs/*.deb; do
		dpkg -x "$archive" "$folder" || return 1
	done
	rm -rf "$folder/.debs"
	: >"$folder/.done"
}
