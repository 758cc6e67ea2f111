# viewers - .json and .pb opened by those that they are made for: the counts are
# the text's.
# beside others
# needs: host

# Two functions of one name are one to all of them; main is within itself; some
# names need care.
cat >"$TMP/cpu.folded" <<'E'
app;main;parse;read;-;sys_read_[k];vfs_read_[k] 301
app;main;parse 17
app;main;parse;main;parse 5
app;main;ev<al>_[j];[libc.so.6+0x12] 212
app;main;say"hi\n";<b>&amp 99
kworker/0:1;worker_thread_[k];flush_[k] 40
E
printf 'odd;\377\033 7\n' >>"$TMP/cpu.folded"

# By function, what is in it itself and in it at all: "SELF TOTAL NAME".
counted() {
	awk '{
		count = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, f, ";")
		split("", seen)
		for (i = 1; i <= n; i++) {
			sub(/_\[[kj]\]$/, "", f[i])
			if (!(f[i] in seen))
				total[f[i]] += count
			seen[f[i]]
		}
		self[f[n]] += count
	}
	END {
		for (name in total)
			print self[name] + 0, total[name], name
	}' "$1" | sed 's/\o377\o033/\\xff\\x1b/' | sort
}
counted "$TMP/cpu.folded" >"$TMP/counted"

# same NAME FILE: pass when FILE says what the text does.
same() {
	sort "$2" | diff "$TMP/counted" - >"$TMP/diff" && pass "$1" ||
		fail "$1" "$(head -n 6 "$TMP/diff" | tr '\n' ' ')" \
			"$(tail -n 3 "$TMP/log")"
}

"$SONDE" flame --title T -o "$TMP/cpu.pb" "$TMP/cpu.folded"
"$SONDE" flame --title T -o "$TMP/cpu.json" "$TMP/cpu.folded"
"$SONDE" flame --units us -o "$TMP/us.pb" "$TMP/cpu.folded"
"$SONDE" flame --units us -o "$TMP/us.json" "$TMP/cpu.folded"
if is_root; then
	"$SONDE" profile -F 499 -o "$TMP/live.pb" 1 2>"$TMP/err"
	taken=$(sed -n 's/^note: \([0-9]*\) samples in.*/\1/p' "$TMP/err")
	"$SONDE" offcputime -o "$TMP/wait.json" 1 2>>"$TMP/err"
	"$SONDE" stackcount -o "$TMP/hits.pb" -D 1 t:sched:sched_switch \
		2>>"$TMP/err"
	hits=$(sed -n 's/^note: \([0-9]*\) hits in.*/\1/p' "$TMP/err")
fi

# --- go tool pprof
pprof() {
	HOME=$TMP go tool pprof -nodecount=100000 -nodefraction=0 \
		-edgefraction=0 "$@" 2>"$TMP/log"
}
pprof_total() {
	pprof -top "$1" | sed -n 's/.* of \([0-9.]*[a-z]*\) total$/\1/p'
}
# is NAME GOT WANTED
is() { [ "$2" = "$3" ] && pass "$1" || fail "$1" "'$2', not '$3'"; }

if needs pprof go; then
	pprof -raw "$TMP/cpu.pb" | awk '
		/^(Samples|Locations|Mappings)/ { part = $1 }
		part == "Samples:" && $2 ~ /^[0-9]+$/ {
			line = ""
			for (i = NF; i > 1; i--)
				line = line " " $i
			stacks[++n] = line
			count[n] = $1 + 0
		}
		part == "Locations" && sub(/ :0 s=0\(\)$/, "") {
			id = $1 + 0
			sub(/^ *[0-9]+: 0x0 M=[0-9]+ /, "")
			name[id] = $0
		}
		END {
			for (i = 1; i <= n; i++) {
				k = split(stacks[i], f, " ")
				for (j = 1; j <= k; j++)
					printf "%s%s", (j > 1 ? ";" : ""),
						name[f[j]]
				print " " count[i]
			}
		}' >"$TMP/raw"
	counted "$TMP/raw" >"$TMP/pprof"
	same pprof_counts "$TMP/pprof"
	is pprof_total "$(pprof_total "$TMP/cpu.pb")" 681
	pprof -raw "$TMP/us.pb" >"$TMP/raw"
	check pprof_unit grep -qx 'off-cpu/microseconds' "$TMP/raw"
	check pprof_kernel grep -qE '\[kernel\] +\[FN\]' "$TMP/raw"
	if is_root; then
		is pprof_profile "$(pprof_total "$TMP/live.pb")" "$taken"
		pprof -raw "$TMP/live.pb" >"$TMP/raw"
		check pprof_period grep -qx 'Period: 2004008' "$TMP/raw"
		is pprof_stackcount "$(pprof_total "$TMP/hits.pb")" "$hits"
		pprof -raw "$TMP/hits.pb" >"$TMP/raw"
		check pprof_type grep -qx 'hits/count' "$TMP/raw"
	fi
fi

# --- from npm
needs npm npm node || exit 0

# fetch PACKAGE VERSION: unpack it at $TMP/PACKAGE's last part.
fetch() {
	to=$TMP/${1##*/}
	mkdir -p "$to" out/npm
	file=$(find out/npm -name "*${1##*/}-$2.tgz")
	if [ -z "$file" ]; then
		(cd out/npm && HOME=$TMP timeout 120 npm pack "$1@$2") \
			>"$TMP/log" 2>&1 || return 1
		file=$(find out/npm -name "*${1##*/}-$2.tgz")
	fi
	tar -xzf "$file" -C "$to"
}

# speedscope FILE.json: its table, "SELF TOTAL NAME".
speedscope() {
	printf 'speedscope.loadFileFromBase64("x.json", "%s")' \
		"$(base64 "$1" | tr -d '\n')" >"$TMP/load.js"
	page=file://$TMP/speedscope/package/dist/release/index.html
	HOME=$TMP timeout 120 chromium --headless --no-sandbox --disable-gpu \
		--disable-quic --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync \
		--enable-unsafe-swiftshader --window-size=1400,1000 \
		--user-data-dir="$TMP/chromium" --virtual-time-budget=20000 \
		--dump-dom \
		"$page#view=sandwich&localProfilePath=$TMP/load.js" \
		2>"$TMP/log" >"$TMP/dom"
	rm -rf "$TMP/chromium"
	sed 's/<tr/\n<tr/g' "$TMP/dom" | sed -n '/^<tr/{
		s/<[^>]*>/|/g; s/||*/|/g
		s/&lt;/</g; s/&gt;/>/g; s/&nbsp;/ /g; s/&amp;/\&/g
		s/^|\([^|]*\) ([^|]*)|\([^|]*\) ([^|]*)|\(.*\)|$/\2 \1 \3/p
	}'
}

if ! have chromium; then
	skip speedscope "no chromium"
elif ! fetch speedscope 1.25.0; then
	skip speedscope "npm has it not: $(tail -n 1 "$TMP/log")"
else
	speedscope "$TMP/cpu.json" >"$TMP/speedscope.table"
	same speedscope_counts "$TMP/speedscope.table"
	check speedscope_title grep -q '<title>T - speedscope' "$TMP/dom"
	speedscope "$TMP/us.json" >"$TMP/speedscope.table"
	check speedscope_unit grep -q '^301.00µs 301.00µs vfs_read' \
		"$TMP/speedscope.table"
	if is_root; then
		speedscope "$TMP/wait.json" >"$TMP/speedscope.table"
		check speedscope_offcputime test -s "$TMP/speedscope.table"
	fi
fi

# Firefox Profiler's own command line, the same program without the page: one
# process has the profile, the others ask it.
PROFILER_CLI_SESSION_DIR=$TMP/pq
export PROFILER_CLI_SESSION_DIR
profiler_js=$TMP/profiler-cli/package/dist/profiler-cli.js
functions() {
	node "$profiler_js" thread functions --json --limit 100000 \
		--session "$1" >"$TMP/functions" 2>"$TMP/log"
}
cat >"$TMP/table.js" <<'E'
const all = JSON.parse(require('fs').readFileSync(0));
for (const f of all.functions)
	console.log(+f.selfSamples.toFixed(6), +f.totalSamples.toFixed(6),
		f.name);
E
# firefox FILE.json: its functions, "SELF TOTAL NAME".
firefox() {
	asked=$(basename "$1" .json)
	start node "$profiler_js" --daemon "$1" --session "$asked"
	wait_until functions "$asked" || cp "$1" out/test
	cat "$TMP/started.log" >>"$TMP/log"
	stop
	node "$TMP/table.js" <"$TMP/functions" 2>>"$TMP/log"
}

if ! fetch @firefox-devtools/profiler-cli 0.10.0; then
	skip firefox "npm has it not: $(tail -n 1 "$TMP/log")"
elif ! node "$profiler_js" --version >"$TMP/log" 2>&1; then
	skip firefox "needs a later node: $(tail -n 1 "$TMP/log")"
else
	firefox "$TMP/cpu.json" >"$TMP/firefox"
	same firefox_counts "$TMP/firefox"
	firefox "$TMP/us.json" >"$TMP/firefox"
	check firefox_unit grep -qx '0.301 0.301 vfs_read' "$TMP/firefox"
	if is_root; then
		firefox "$TMP/wait.json" >"$TMP/firefox"
		[ -s "$TMP/firefox" ] && pass firefox_offcputime ||
			fail firefox_offcputime "$(tr '\n' ' ' <"$TMP/log")"
	fi
fi
