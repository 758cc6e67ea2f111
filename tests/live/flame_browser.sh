# flame_browser - search and zoom of the SVG in headless Chromium.
# beside others
# needs: host

have chromium || { skip browser "no chromium"; exit 0; }

# sees NAME KEY VALUE
sees() {
	got=$(sed -n "s/^$2 //p" "$TMP/seen")
	if [ "$got" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "$2 is '$got', not '$3'"
	fi
}

# Nested matches count once: read within read is 30 + 10 of 100, not more.
cat >"$TMP/folded" <<'E'
app;main;read;copy;read 30
app;main;read 10
app;main;write (5 samples, 1%) 20
app;main;write (5 samples, 1%);read_all 20
idle 20
E
"$SONDE" flame --countname samples "$TMP/folded" >"$TMP/graph.svg"
sh tests/bench/flame_probe.sh "$TMP/graph.svg" '^read$' main "$TMP" \
	>"$TMP/seen"
if [ ! -s "$TMP/seen" ]; then
	fail browser "no answer: $(tail -n 2 "$TMP/chromium.log")"
	exit 0
fi
sees matched_once matched "Matched: 40.00%"
sees hits_drawn hits 472
sees zoomed_fills_the_width zoomed 10+1180
sees zoomed_share zoomed_matched "Matched: 50.00%"
sees unzoom_offered unzoom visible
sees frame_before before 10+944
sees reset_restores after 10+944
sees reset_restores_labels after_labels "$(sed -n 's/^labels //p' "$TMP/seen")"
sees zoomed_leaves_out_neighbors zoomed_labels \
	"all,app,main,read,copy,read,write (5 samples, 1%),read_all"
sees bad_pattern bad "not a regular expression"
sees search_reset reset "[]"
sees ignore_case ignore_case "Matched: 40.00%"

awk 'BEGIN { srand(1); for (i = 0; i < 3700; i++) { for (d = 0; d < 30; d++)
	printf "%sf%d", d ? ";" : "", rand() * 5000; print " 1" } }' |
	"$SONDE" flame >"$TMP/graph.svg"
sh tests/bench/flame_probe.sh "$TMP/graph.svg" f1 any "$TMP" >"$TMP/seen"
echo "$(grep -c '<rect' "$TMP/graph.svg") frames:" \
	$(sed -n 's/^time //p' "$TMP/seen")
check quick_with_100000_frames awk '$1 == "time" { n++; if ($3 > 3000) bad = 1 }
	END { exit n < 3 || bad }' "$TMP/seen"
