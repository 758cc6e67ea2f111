# house.sh - the rules of the tree that a script can hold.
# beside others
# needs: host

# report NAME FILE: pass when FILE, a list of offences, is empty.
report() {
	if [ -s "$2" ]; then
		cat "$2"
		fail "$1" "$(wc -l <"$2") times, first: $(head -n 1 "$2")"
	else
		pass "$1"
	fi
}

# In a checkout, what git knows or would add; in a plain copy, every file.
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	git ls-files -co --exclude-standard
else
	find . -type f ! -path './out/*' | sed 's,^\./,,'
fi | while read -r f; do
	[ ! -f "$f" ] || echo "$f"
done | sort >"$TMP/files"
grep '\.[ch]$' "$TMP/files" >"$TMP/sources"

# Who may include whom, by folder; a file may include its own folder.
cat >"$TMP/rules" <<'RULES'
include	include
bpfasm	include
src/base	base
src/sys	base sys include
src/asm	base asm include
src/raw	base raw
src/sym	base sys sym
src/trace	base sys asm raw sym trace include
src/render	base sym render
src/cmd	base sys asm raw sym trace render cmd include
src/main.c	base sys asm raw sym trace render cmd include
RULES

xargs awk -v rules="$TMP/rules" '
BEGIN {
	while ((getline line < rules) > 0) {
		split(line, part, "\t")
		allowed[part[1]] = " " part[2] " "
	}
}
function home(file) {
	if (file in allowed)
		return file
	sub(/\/[^\/]*$/, "", file)
	return file
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	name = part[2]
	where = home(FILENAME)
	if (!(where in allowed) || name == "cmds.h")
		next
	room = name
	if (!sub(/\/.*/, "", room))
		room = "include"
	if (!index(allowed[where], " " room " "))
		print FILENAME ":" FNR ": includes " name
	if (name == "asm.h" && where != "bpfasm" && where != "src/asm" &&
	    where != "src/lang")
		print FILENAME ":" FNR ": includes asm.h"
}
/^[ \t]*#[ \t]*include[ \t]*<linux\// {
	if (FILENAME ~ /^(src|bpfasm|include)\// &&
	    FILENAME != "include/uapi.h")
		print FILENAME ":" FNR ": only uapi.h includes <linux/...>"
}' <"$TMP/sources" >"$TMP/bad"
report includes "$TMP/bad"

sed 's,/.*,,' "$TMP/files" | sort -u |
	grep -vxE 'src|bpfasm|include|tests|build\.sh|README\.md|LICENSE|\..*' \
	>"$TMP/bad"
report top-level "$TMP/bad"

xargs awk '
FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.[ch]$/, "", name)
	if (index($0, "/* " name " - ") != 1)
		print FILENAME ": first line is not /* " name " - ... */"
}' <"$TMP/sources" >"$TMP/bad"
report first-lines "$TMP/bad"

xargs grep -nwE 'TO''DO|FIX''ME|X''XX' <"$TMP/sources" >"$TMP/bad"
report unfinished "$TMP/bad"

# Columns count characters; a tab goes to the next multiple of eight.
grep -E '\.([ch]|sh)$' "$TMP/files" | xargs awk '
{
	column = 0
	line = $0
	gsub(/[\200-\277]/, "", line)
	n = split(line, part, "\t")
	for (i = 1; i <= n; i++) {
		column += length(part[i])
		if (i < n)
			column += 8 - column % 8
	}
	if (column > 80)
		print FILENAME ":" FNR ": " column " columns"
}' >"$TMP/bad"
report columns "$TMP/bad"

# A function: from its opening brace in the first column to the closing one.
grep '^src/' "$TMP/sources" | xargs awk '
FNR == 1 { start = 0 }
/^{/ { start = FNR }
/^}/ {
	if (start && FNR - start - 1 > 60)
		print FILENAME ":" start ": " FNR - start - 1 " lines"
	start = 0
}' >"$TMP/bad"
report function-length "$TMP/bad"

grep -E '^(src|bpfasm|include)/.*\.[ch]$' "$TMP/sources" |
	grep -v '^src/base/vec\.c$' |
	xargs grep -nE '(^|[^a-z_])(malloc|calloc|realloc|strdup|free)\(' \
	>"$TMP/bad"
report allocation "$TMP/bad"

xargs grep -nE '(^|[^.$A-Za-z0-9_}])/(work|home)/' <"$TMP/files" |
	grep -v '^tests/live/house\.sh:' >"$TMP/bad"
report machine-paths "$TMP/bad"
