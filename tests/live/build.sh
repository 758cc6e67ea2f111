# build - the binary itself: static, small, the same bytes in any folder.
# beside others
# needs: host
if readelf -lW "$SONDE" | grep -q INTERP ||
   readelf -dW "$SONDE" 2>/dev/null | grep -q NEEDED; then
	fail "static" "$(readelf -lW "$SONDE" | grep INTERP)"
else
	pass "static"
fi
size=$(stat -c %s "$SONDE")
[ "$size" -le 573440 ] && pass "at most 560 KB" ||
	fail "at most 560 KB" "$size bytes"

# Only what git knows, or would: not what an earlier build left.
mkdir "$TMP/other folder"
if have git && git rev-parse --git-dir >/dev/null 2>&1; then
	git ls-files -co --exclude-standard -z | xargs -0 tar cf - |
		tar xf - -C "$TMP/other folder"
	if (cd "$TMP/other folder" && ./build.sh) >"$TMP/log" 2>&1 &&
	   cmp "$SONDE" "$TMP/other folder/out/sonde" >>"$TMP/log" 2>&1; then
		pass "same bytes in another folder"
	else
		fail "same bytes in another folder" "$(tail -n 3 "$TMP/log")"
	fi
else
	skip "same bytes in another folder" "not a git checkout"
fi

ln -s "$SONDE" "$TMP/flame"
echo 'a;b 1' | "$TMP/flame" | grep -q '<svg' &&
	pass "a link runs its command" ||
	fail "a link runs its command" "no SVG"
"$SONDE" --version | grep -q '^sonde ' && pass "version" ||
	fail "version" "$("$SONDE" --version)"
for command in profile flame sym asm; do
	"$SONDE" help $command | grep -q '^examples:' &&
		"$SONDE" $command --help | grep -q '^usage: sonde' ||
		fail "help" "$command"
done
"$SONDE" help >/dev/full 2>"$TMP/err"
[ $? = 1 ] && grep -q 'cannot write' "$TMP/err" &&
	pass "help to a full disk" ||
	fail "help to a full disk" "$(cat "$TMP/err")"
"$SONDE" >"$TMP/out"
[ $? = 2 ] && grep -q 'usage: sonde' "$TMP/out" && pass "no command" ||
	fail "no command" "$(cat "$TMP/out")"
