# libfuzzer.sh - one target under libFuzzer: sh libfuzzer.sh PROGRAM CORPUS SECS
#
# What is found may come once in hours, and on a machine that is gone an hour
# later: so the verdict itself names the fault, its place and the input.
set -eu

saved=out/fuzz/crash-$(basename "$2")-
status=0
"$1" -max_total_time="$3" -timeout=10 -rss_limit_mb=1024 -max_len=65536 \
	-artifact_prefix="$saved" -print_final_stats=1 -verbosity=0 \
	"$2" >"$1.out" 2>&1 || status=$?
cat "$1.out"
if [ $status = 0 ]; then
	echo "PASS $3 s"
	exit
fi
why=$(grep -m 1 '^SUMMARY:' "$1.out" || echo "exit status $status")
places=$(grep -o 'src/[a-z_/]*\.[ch]:[0-9]*' "$1.out" | head -n 8 |
	tr '\n' ' ')
input=$(sed -n 's/.*Test unit written to //p' "$1.out")
[ -z "$input" ] ||
	input="on (gzip, base64): $(gzip -9nc "$input" | base64 -w 0)"
echo "FAIL $why at $places$input"
