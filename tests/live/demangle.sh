# demangle - readable names beside those of c++filt: all of the libraries here.
# beside others
# needs: host gcc c++filt nm

gcc -O1 -D_GNU_SOURCE -Iinclude -Isrc -o "$TMP/demangle" \
	tests/bench/demangle.c src/sym/demangle*.c src/base/buf.c \
	src/base/vec.c || exit 1

# names FILE...: what their dynamic symbols are called.
names() {
	for file; do
		nm -D "$file"
	done | awk '{ sub(/@.*/, "", $NF); print $NF }' |
		grep -E '^(_Z|_R|_GLOBAL_)' | sort -u
}

# same NAME FILE...: as c++filt has it, without a limit on the length. What that
# leaves as it is may be readable here: conversions to templates.
same() {
	name=$1
	shift
	names "$@" >"$TMP/names"
	c++filt -r -i -s rust <"$TMP/names" >"$TMP/rust"
	c++filt -r -s gnu-v3 <"$TMP/names" >"$TMP/cxx"
	"$TMP/demangle" <"$TMP/names" >"$TMP/ours"
	n=$(wc -l <"$TMP/names")
	paste "$TMP/names" "$TMP/rust" "$TMP/cxx" "$TMP/ours" | awk -F '\t' '
		{ wanted = $1 != $2 ? $2 : $3 }
		wanted != $4 && (wanted != $1 || $1 !~ /cv/)' >"$TMP/bad"
	if [ ! -s "$TMP/bad" ] && [ "$n" -gt 100 ]; then
		pass "$name ($n names)"
	else
		fail "$name" "$(wc -l <"$TMP/bad") of $n: $(
			head -n 1 "$TMP/bad")"
	fi
}

# library PATTERN: the first that has such a path.
library() {
	ls $1 2>/dev/null | head -n 1
}

for pattern in '/usr/lib/*/libstdc++.so.6' '/usr/lib/*/libLLVM-*.so.1' \
	'/usr/lib/*/libclang-cpp.so.*' '/usr/lib/*/libboost_regex.so.*'; do
	found=$(library "$pattern")
	if [ -n "$found" ]; then
		same "$(basename "$found")" "$found"
	else
		skip "$(basename "$pattern")" "not here"
	fi
done

# Rust's own compiler and library, from the distribution's packages.
package=$(apt-cache search -n '^libstd-rust-[0-9.]*$' 2>/dev/null |
	sed -n '1s/ .*//p')
if [ -n "$package" ] && (cd "$TMP" && apt-get download "$package" &&
	dpkg -x "$package"*.deb unpacked) >"$TMP/apt.log" 2>&1; then
	same "$package" $(find "$TMP/unpacked" -name '*.so')
else
	skip "libstd-rust" "no such package here"
fi
