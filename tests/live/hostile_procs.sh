# hostile_procs - processes that want others, or the profiler, to suffer.
# needs: host root
if ! have gcc; then
	skip hostile_procs "no gcc"
	exit 0
fi
tree=$PWD
cd "$TMP" || exit 1

# A file on another device takes the place of a library before the mapping
# record is followed; then a victim starts that uses the library.
library() {
	echo "__attribute__((noinline)) long $2(long n)" \
		'{ volatile long s = 0; while (n--) s += n; return s; }' >l.c
	gcc -O1 -fno-omit-frame-pointer -shared -fPIC -o "$1" l.c ||
		fail library "gcc failed"
}
echo 'long good_name(long); int main(void) { for (;;) good_name(100000); }' >v.c
library libgood.so good_name
gcc -O1 -o victim v.c -L. -lgood -Wl,-rpath,"$PWD"
cc_program replacer "$tree/tests/programs/replacer.c" -O1
shm=$(mktemp /dev/shm/sondeXXXXXX)
library "$shm" evil_name
start ./replacer libgood.so "$shm"
(sleep 3.5; exec timeout 20 ./victim) &
victim=$!
started="$started $victim"
"$SONDE" profile -F 199 -f 6 >replaced 2>err
rm -f "$shm"
if grep -q '^victim;.*good_name' replaced &&
	! grep -q '^victim;.*evil_name' replaced; then
	pass replaced-mapping
else
	fail replaced-mapping "$(grep '^victim' replaced | head -n 2)"
fi
stop
