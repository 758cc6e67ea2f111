# flame - sonde flame as a user meets it: inputs, errors, files.
# beside others

f() { "$SONDE" flame "$@" 2>"$TMP/err"; }

# status NAME WANTED COMMAND...: pass when the exit status is WANTED and
# nothing crashed; stderr is left in $TMP/err.
status() {
	n=$1 want=$2 got=0
	shift 2
	"$@" >"$TMP/out.svg" 2>"$TMP/err" || got=$?
	if [ "$got" = "$want" ]; then
		pass "$n"
	else
		fail "$n" "exit $got, not $want: $(head -n 2 "$TMP/err")"
	fi
}

says() { check "$1" grep -q -e "$2" "$TMP/err"; }

well_formed() { # NAME FILE
	is_svg "$2" && ! grep -qE '=""|nan|NaN|="-' "$2" && pass "$1" ||
		fail "$1" "$(head -n 3 "$2" "$TMP/xml")"
}

# --- pictures
cat >"$TMP/small" <<'E'
app;main;parse;read;-;vfs_read 30
app;main;parse 10
app;main;eval_[j];[libc.so.6+0x12] 20
kworker/0:1;worker_thread_[k];flush_[k] 40
E
f --title T --countname bytes "$TMP/small" >"$TMP/small.svg"
well_formed small "$TMP/small.svg"
check golden cmp "$TMP/small.svg" tests/golden/flame/small.svg
f --title T --countname bytes <"$TMP/small" >"$TMP/stdin.svg"
check stdin_equals_file cmp "$TMP/small.svg" "$TMP/stdin.svg"
LANG=xx_XX.bogus LC_ALL=de_DE.UTF-8 "$SONDE" flame --title T \
	--countname bytes "$TMP/small" >"$TMP/locale.svg"
check same_in_every_locale cmp "$TMP/small.svg" "$TMP/locale.svg"
f --title T --countname bytes -o "$TMP/named.svg" - <"$TMP/small"
check output_option cmp "$TMP/small.svg" "$TMP/named.svg"
f --title T --units bytes --colors hot "$TMP/small" >"$TMP/units.svg"
check units_name cmp "$TMP/small.svg" "$TMP/units.svg"
f --units us "$TMP/small" >"$TMP/us.svg"
check units_tooltip grep -q '<title>main (60 us, 60%)' "$TMP/us.svg"
f --colors offcpu --countname us "$TMP/small" >"$TMP/tones.svg"
check units_tones cmp "$TMP/us.svg" "$TMP/tones.svg"
status unknown_unit 2 f --units ms "$TMP/small"
says unknown_unit_said 'there are samples, us, bytes'
f "$TMP/small" "$TMP/small" >"$TMP/twice.svg"
check files_add_up grep -q 'all (200 samples, 100%)' "$TMP/twice.svg"
f --inverted --width 300 --height 9 --fontsize 7 --minwidth 0 --colors java \
	--subtitle 'a & b' "$TMP/small" >"$TMP/options.svg"
well_formed options "$TMP/options.svg"

# --- other files, by their ending
f --title T -o "$TMP/small.json" "$TMP/small"
check golden_json cmp "$TMP/small.json" tests/golden/flame/small.json
f -o "$TMP/small.folded" "$TMP/small"
sort "$TMP/small" | sed 's/vfs_read/&_[k]/' >"$TMP/sorted"
sort "$TMP/small.folded" >"$TMP/got"
check folded cmp "$TMP/sorted" "$TMP/got"
f -o "$TMP/small.pb" "$TMP/small"
check pprof grep -q 'worker_thread' "$TMP/small.pb"
status text_without_diff 2 f -o "$TMP/x.txt" "$TMP/small"
says text_without_diff_said 'name it .folded'
status other_ending 2 f -o "$TMP/picture.png" "$TMP/small"
says other_ending_said 'ending must be .svg, .folded, .json or .pb'
check other_ending_not_written test ! -e "$TMP/picture.png"
status diff_other_ending 2 f --diff "$TMP/small" -o "$TMP/x.png" "$TMP/small"
says diff_other_ending_said 'writes .svg or .txt'

# --- merged from the leaf
f --reverse -o "$TMP/reverse.folded" "$TMP/small"
check reverse grep -qx 'vfs_read_\[k\];-;read;parse;main;app 30' \
	"$TMP/reverse.folded"
f --reverse "$TMP/small" >"$TMP/reverse.svg"
check reverse_merges grep -q '<title>vfs_read (30 samples, 30%)' \
	"$TMP/reverse.svg"
f --min-width 500 "$TMP/small" >"$TMP/min.svg"
f --minwidth 500 "$TMP/small" >"$TMP/min2.svg"
check min_width sh -c '! grep -q ">kworker" "$1" && cmp "$1" "$2"' sh \
	"$TMP/min.svg" "$TMP/min2.svg"

# --- compared with an older one
sed 's/ 30$/ 90/; s/ 20$/ 5/' "$TMP/small" >"$TMP/new"
echo 'gone;away 100' | cat "$TMP/small" - >"$TMP/old"
f --title T --subtitle S --diff "$TMP/old" -o "$TMP/diff.svg" "$TMP/new" \
	>"$TMP/table"
well_formed diff "$TMP/diff.svg"
check diff_golden cmp "$TMP/diff.svg" tests/golden/flame/diff.svg
says_table() { check "$1" grep -qE "$2" "$TMP/table"; }
says_table diff_table '^ *\+47\.07 +15\.00 +62\.07 .* vfs_read$'
says_table diff_gone '^ *-50\.00 +50\.00 +0\.00 .* away$'
f --title T --subtitle S --diff "$TMP/old" "$TMP/new" >"$TMP/diff2.svg"
check diff_to_stdout cmp "$TMP/diff.svg" "$TMP/diff2.svg"
check diff_table_beside cmp "$TMP/err" "$TMP/table"
f --diff "$TMP/old" -o "$TMP/diff.txt" - <"$TMP/new"
check diff_text cmp "$TMP/diff.txt" "$TMP/table"
f --diff "$TMP/old" --top 1 -o "$TMP/top.txt" "$TMP/new"
check diff_top test "$(wc -l <"$TMP/top.txt")" = 3
f --diff "$TMP/small" -o "$TMP/same.svg" "$TMP/small" >"$TMP/table"
check diff_same grep -q '<title>main (60 samples, 60%; old 60, 60%; +0%)' \
	"$TMP/same.svg"
check diff_same_table test "$(wc -l <"$TMP/table")" = 2
status diff_json 2 f --diff "$TMP/old" -o "$TMP/x.json" "$TMP/new"
says diff_json_said 'diff_base'
status diff_none 1 f --diff "$TMP/none" "$TMP/new"
status diff_empty_new 1 f --diff "$TMP/old" /dev/null
status diff_empty_old 0 f --diff /dev/null "$TMP/new"
well_formed diff_empty_old_svg "$TMP/out.svg"

# --- perf script's text, known as such
printf 'a b 1/2 [000] 1.5: 9 e:\n\tf1 k+0x1 ([kernel.kallsyms])\n\t2 m (x)\n' \
	>"$TMP/script"
f -o "$TMP/script.folded" "$TMP/script"
check perf_script grep -qx 'a b;m;k_\[k\] 1' "$TMP/script.folded"
f "$TMP/script" "$TMP/small" >"$TMP/both.svg"
check both_kinds grep -q 'all (101 samples, 100%)' "$TMP/both.svg"
printf 'stray\n' >>"$TMP/script"
status perf_script_malformed 0 f "$TMP/script"
says perf_script_line 'line 4: neither a sample nor a frame'

# --- bytes that XML cannot carry, forged lines and entities
awk 'BEGIN { for (i = 1; i < 256; i++) if (i != 10)
	printf "c%c;<&\">%c\357\277\276\355\240\200]]>&#27; %d\n", i, i, i }' \
	>"$TMP/bytes"
f --title "$(printf 'a\033]]>\377<b')" --countname '<"&' "$TMP/bytes" \
	>"$TMP/bytes.svg"
well_formed every_byte "$TMP/bytes.svg"
f --title "$(printf 'a\033]]>\377<b"\\')" --countname '<"&' \
	-o "$TMP/bytes.json" "$TMP/bytes"
if have python3; then
	check every_byte_json python3 -c 'import json, sys
all = json.load(open(sys.argv[1], encoding="utf-8"))
assert sum(all["profiles"][0]["weights"]) == 255 * 128 - 10' \
		"$TMP/bytes.json"
fi
f -o "$TMP/bytes.folded" "$TMP/bytes"
f -o "$TMP/again.folded" "$TMP/bytes.folded"
for n in bytes again; do
	sort "$TMP/$n.folded" >"$TMP/$n"
done
check every_byte_folded cmp "$TMP/bytes" "$TMP/again"
printf 'a\0b;\0 1\n' | f >"$TMP/nul.svg"
well_formed nul_byte "$TMP/nul.svg"

# --- sizes
deep=10000
in_guest && deep=1000		# its regular expressions are slow
awk -v deep=$deep 'BEGIN { for (i = 0; i < deep; i++)
	printf "%sf%d", i ? ";" : "", i
	print " 1" }' >"$TMP/deep"
f "$TMP/deep" >"$TMP/deep.svg"
well_formed deep_stack "$TMP/deep.svg"
check deep_stack_complete grep -q "f$((deep - 1)) (1 samples, 100%)" \
	"$TMP/deep.svg"
printf 'a 18446744073709551615\nb;c 18446744073709551614\n' |
	f >"$TMP/large.svg"
well_formed large_counts "$TMP/large.svg"
says large_counts_noticed 'beyond 64 bits'
printf 'one 1' | f >"$TMP/one.svg"
well_formed one_frame "$TMP/one.svg"

# --- nothing to draw
status empty_input 1 f /dev/null
well_formed empty_svg "$TMP/out.svg"
says empty_input_said 'no samples'
echo precious >"$TMP/kept.svg"
echo no stacks >"$TMP/unusable"
status unusable_input 1 f -o "$TMP/kept.svg" "$TMP/unusable"
says unusable_input_said 'no samples in the input: no file is written'
check unusable_input_keeps grep -qx precious "$TMP/kept.svg"
status unusable_input_makes_none 1 f -o "$TMP/none.svg" "$TMP/unusable"
check unusable_input_no_file test ! -e "$TMP/none.svg"
printf 'a;b 0\n' >"$TMP/zero"
status zero_counts 1 f "$TMP/zero"
well_formed zero_svg "$TMP/out.svg"

# --- bad input
printf 'ok;a 1\nbroken\nok;b x\nok 2.5\n' >"$TMP/bad"
status malformed_lines 0 f "$TMP/bad"
says malformed_line_number 'line 2: '
says malformed_total '2 malformed lines skipped'
says rounded_total '1 fractional count rounded'
check malformed_rest grep -q 'all (4 samples, 100%)' "$TMP/out.svg"
status no_such_file 1 f "$TMP/none"
says no_such_file_named 'none: cannot open: No such file'
status a_folder 1 f "$TMP"
says a_folder_named 'Is a directory'
status bad_palette 2 f --colors hott "$TMP/small"
says bad_palette_list 'there are hot, .*, purple$'
status top_alone 2 f --top 3 "$TMP/small"
says top_alone_said 'top: only with --diff'
status bad_width 2 f --width 0 "$TMP/small"
status bad_minwidth 2 f --minwidth x "$TMP/small"
status bad_option 2 f --no-such "$TMP/small"
status unwritable 1 f -o "$TMP/no/such.svg" "$TMP/small"
f -o "$TMP/partial.svg" "$TMP/none"
check failed_leaves_no_file test ! -e "$TMP/partial.svg"
if [ -c /dev/full ]; then
	"$SONDE" flame "$TMP/small" >/dev/full 2>"$TMP/err"
	check full_disk test $? = 1
fi

# --- what is read is not written over; nothing to compare with is said
echo 'a;b 3' >"$TMP/self.folded"
: >"$TMP/empty.folded"
! "$SONDE" flame -o "$TMP/self.folded" "$TMP/self.folded" 2>"$TMP/err" &&
	grep -qx 'a;b 3' "$TMP/self.folded" && pass own_input ||
	fail own_input "$(cat "$TMP/err" "$TMP/self.folded")"
"$SONDE" flame --diff "$TMP/empty.folded" -o "$TMP/diff.svg" \
	"$TMP/self.folded" >"$TMP/out" 2>"$TMP/err" &&
	grep -q 'empty.folded: no samples' "$TMP/err" && pass empty_old ||
	fail empty_old "$(cat "$TMP/err")"

# --- scale: memory follows the distinct frames, not the input
if ! have gcc; then
	skip scale_memory "needs gcc"
	exit
fi
gcc -O1 -o "$TMP/measure" tests/programs/measure.c
awk 'BEGIN { srand(1); for (i = 0; i < 100000; i++) { for (d = 0; d < 30; d++)
	printf "%sf%d", d ? ";" : "", rand() * 5000; print " 1" } }' \
	>"$TMP/scale"
"$TMP/measure" "$TMP/cost" "$SONDE" flame "$TMP/scale" >"$TMP/scale.svg"
well_formed scale "$TMP/scale.svg"
check scale_memory awk '{ exit !($3 < 44000) }' "$TMP/cost"
