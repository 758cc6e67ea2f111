# flame.sh - what a flame graph costs, beside flamegraph.pl where $FLAMEGRAPH
# names it. Prints "what | figure | peer | target" lines like bench.sh.
set -u
export LC_ALL=C
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
gcc -O1 -o "$T/measure" tests/programs/measure.c || exit 1

row() { printf '%-44s %-26s %-34s %s\n' "$1" "$2" "$3" "$4"; }

# stacks N: unlike stacks of 30 frames out of 5,000 names.
stacks() {
	awk -v n="$1" 'BEGIN { srand(1); for (i = 0; i < n; i++) {
		for (d = 0; d < 30; d++) printf "%sfunction_%d", d ? ";" : "",
			rand() * 5000
		print " 1" } }'
}

cost() { # COMMAND...: "WALL ms, CPU ms, RSS MB"
	"$T/measure" "$T/one" "$@" >"$T/out.svg" 2>"$T/err" </dev/null
	awk '{ printf "%.0f ms, %.0f ms CPU, %.1f MB", $1, $2, $3 / 1024 }' \
		"$T/one"
}

peer() {
	if [ -z "${FLAMEGRAPH:-}" ]; then
		echo "FLAMEGRAPH names no flamegraph.pl"
	else
		echo "flamegraph.pl: $(cost perl "$FLAMEGRAPH" "$1")"
	fi
}

stacks 100000 >"$T/folded"
head -n 10000 "$T/folded" >"$T/few"
row "SVG of 10,000 lines" "$(cost out/sonde flame "$T/few")" \
	"$(peer "$T/few")" "<= 1/20"
row "SVG of 100,000 lines" "$(cost out/sonde flame "$T/folded")" \
	"$(peer "$T/folded")" "<= 1/20"
stacks 1000000 >"$T/folded"
row "SVG of 1,000,000 lines" "$(cost out/sonde flame "$T/folded")" \
	"flamegraph.pl: not run" "in one go"

if command -v chromium >/dev/null 2>&1; then
	# About 100,000 frames.
	head -n 3800 "$T/few" | out/sonde flame >"$T/graph.svg"
	row "Chromium, $(grep -c '<rect' "$T/graph.svg") frames" \
		"$(sh tests/bench/flame_probe.sh "$T/graph.svg" function_1 \
			any "$T" |
		sed -n 's/^time //p' | tr '\n' ' ')" "" "<= 300 ms each"
fi
