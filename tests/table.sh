# table.sh - the README's table of what works on which kernel; sourced by
# build.sh.
#
# It is made of what `sonde doctor` says on each kernel, so that a new command
# needs no edit here. out/test/table/ has one file per column, its name saying
# the order, with a line COLUMN TAB COMMAND TAB WAY TAB CELL for each command.
TABLE_BEGIN='<!-- written by ./build.sh test guests -->'
TABLE_END='<!-- end of what it wrote -->'

# table_column ORDER COLUMN DOCTOR TESTS: what doctor printed there, and whether
# the tests passed.
table_column() {
	mkdir -p out/test/table
	awk -F '  +' -v column="$2" -v tests="$4" '
		NR > 1 { print column "\t" $1 "\t" $3 "\t" $2 }
		END { print column "\ttests passed\t\t" tests }' "$3" \
		>"out/test/table/$1"
}

# table_of_host: the column of this machine, where nothing keeps it from all.
table_of_host() {
	[ "$(id -u)" = 0 ] || return 0
	build
	out/sonde doctor >out/test/doctor || true
	table_column 9 "$(uname -r | cut -d. -f1,2) $(native), no guest" \
		out/test/doctor -
}

# One row for each command and way it takes; commands whose rows are equal share
# one.
table_print() {
	cat out/test/table/* | awk -F '\t' '
	!($1 in seen_column) { seen_column[$1]; column[++columns] = $1 }
	{
		row = $2 "\t" $3
		if ($2 == "tests passed")
			last = row
		else if (!(row in seen_row)) {
			seen_row[row]
			order[++rows] = row
		}
		cell[row, $1] = $4
	}
	END {
		head = "| command | its way there |"
		line = "|---|---|"
		for (c = 1; c <= columns; c++) {
			head = head " " column[c] " |"
			line = line "---|"
		}
		print head "\n" line
		order[++rows] = last
		for (r = 1; r <= rows; r++) {
			split(order[r], part, "\t")
			rest = "| " part[2] " |"
			for (c = 1; c <= columns; c++)
				rest = rest " " cell[order[r], column[c]] " |"
			if (!(rest in names)) {
				rest_of[++lines] = rest
				names[rest] = part[1]
			} else
				names[rest] = names[rest] ", " part[1]
		}
		for (l = 1; l <= lines; l++)
			print "| " names[rest_of[l]] " " rest_of[l]
	}'
}

# table_write: into the README.
table_write() {
	table_print >out/test/table.md
	awk -v begin="$TABLE_BEGIN" -v end="$TABLE_END" '
		$0 == end { inside = 0 }
		!inside
		$0 == begin {
			inside = 1
			while ((getline line <"out/test/table.md") > 0)
				print line
		}' README.md >out/test/README.md
	cmp -s out/test/README.md README.md ||
		cat out/test/README.md >README.md
}

# table_facts: the README's table, taken apart into lines as above.
table_facts() {
	awk -v begin="$TABLE_BEGIN" -v end="$TABLE_END" '
		$0 == end { inside = 0 }
		inside
		$0 == begin { inside = 1 }' README.md |
	awk -F ' *[|] *' '
	NR == 1 { for (c = 4; c < NF; c++) column[c] = $c }
	NR > 2 {
		n = split($2, name, ", ")
		for (i = 1; i <= n; i++)
			for (c = 4; c < NF; c++)
				if ($c != "")
					print column[c] "\t" name[i] "\t" \
						$3 "\t" $c
	}'
}

# table_check: does the README agree with the columns that there are?
table_check() {
	table_facts | awk -F '\t' '$2 != "tests passed"' >out/test/table.facts
	status=0
	[ -e out/test/table ] || { echo "SKIP agrees: no guest ran"; return; }
	for file in out/test/table/*; do
		label=$(head -n 1 "$file" | cut -f 1)
		awk -F '\t' -v column="$label" '$1 == column' \
			out/test/table.facts | sort >out/test/table.there
		awk -F '\t' '$2 != "tests passed"' "$file" | sort |
			diff out/test/table.there - || status=1
	done
	[ $status = 0 ] && echo "PASS agrees" ||
		echo "FAIL agrees: run ./build.sh test guests, which writes it"
}
