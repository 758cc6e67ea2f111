# perf_script - the text of this machine's perf: stacks as awk reads them.
# beside others
# needs: host root perf
program chain
cd "$TMP" || exit 1

# A line's last (...) is the file; names are what is before it, without offset.
cat >reference.awk <<'E'
function put(line,	name, file, deleted) {
	file = line
	deleted = sub(/ \(deleted\)\)$/, ")", file) ? " (deleted)" : ""
	sub(/^.* \(/, "", file)
	sub(/\)$/, deleted, file)
	name = line
	sub(/^[ \t]*[0-9a-f]+ /, "", name)
	sub(/ \([^ ]*( \(deleted\))?\)$/, "", name)
	sub(/\+0x[0-9a-f]+$/, "", name)
	if (name == "[unknown]" && file != "[unknown]") {
		if (file !~ /^\[/) {
			sub(/^.*\//, "", file)
			file = "[" file "]"
		}
		name = file
	} else if (name != "[unknown]" && (file ~ /\.ko$|^bpf_prog_/ ||
		   (file ~ /^\[/ && file !~ /^\[(vdso|unknown)\]$/))) {
		name = name "_[k]"
	} else if (name != "[unknown]" && file ~ /^\/tmp\/perf-/) {
		name = name "_[j]"
	}
	gsub(/;/, "\\x3b", name)
	stack = ";" name stack
}
function end_sample() {
	if (open)
		count[comm stack]++
	open = 0
	stack = ""
}
/^\t/ { put($0); next }
/^$/ { end_sample(); next }
{
	end_sample()
	comm = substr($0, 1, match($0, / +[0-9]+ +\[?[0-9.:]+/) - 1)
	sub(/^ */, "", comm)
	open = 1
	if (sub(/^.*cpu-clock:[^ ]* +/, "") && /\)$/)
		put($0)
}
END {
	end_sample()
	for (s in count)
		print s, count[s]
}
E

# record NAME OPTIONS...: two seconds of a chain of calls and all else.
record() {
	name=$1
	shift
	perf record -q -e cpu-clock -F 199 -a -o "$name.data" "$@" \
		-- sleep 2 >perf.log 2>&1 &&
		perf script -i "$name.data" >"$name.txt" 2>>perf.log
}

# as_awk NAME FILE: the same stacks, each as often.
as_awk() {
	awk -f reference.awk "$2" | sort >wanted
	"$SONDE" flame -o got.folded "$2" 2>err
	sort got.folded >got
	[ -s got ] && diff wanted got >diff && [ ! -s err ] && pass "$1" ||
		fail "$1" "$(head -n 4 diff err | tr '\n' ' ')"
}

# as_fields FIELDS [OPTION...]: what is in `got`, whatever else perf prints.
as_fields() {
	fields=$1
	shift
	perf script -i stacks.data -F "$fields" "$@" >fields.txt 2>perf.log || {
		skip "$fields" "perf: $? $(tail -n 1 perf.log)"
		return
	}
	"$SONDE" flame -o fields.folded fields.txt 2>err
	sort fields.folded | diff got - >diff && [ -s got ] && [ ! -s err ] &&
		pass "$fields" ||
		fail "$fields" "$(head -n 4 diff err | tr '\n' ' ')"
}

start "$TMP/chain" 3600000
if record stacks -g && [ -s stacks.txt ]; then
	as_awk stacks stacks.txt
	check known_chain grep -q '^chain;.*main;top;mid;leaf ' got
	"$SONDE" flame <stacks.txt >x.svg 2>err
	is_svg x.svg && pass picture || fail picture "$(cat err)"
	samples=$(grep -c 'cpu-clock:' stacks.txt)
	as_fields comm,tid,ip,sym,dso
	as_fields comm,pid,tid,cpu,time,event,ip,sym,dso
	# perf takes half a minute to find the lines of large programs.
	grep '^chain;' got >got.chain
	mv got.chain got
	as_fields comm,tid,time,event,period,ip,sym,symoff,dso,srcline \
		--comms chain
	perf script --header -i stacks.data 2>/dev/null |
		"$SONDE" flame -o header.folded 2>err
	taken=$(awk '{ n += $NF } END { print n }' header.folded)
	[ "$taken" = "$samples" ] && pass header ||
		fail header "$taken samples of $samples: $(head -n 2 err)"
else
	skip stacks "perf cannot record: $(tail -n 1 perf.log)"
fi
if record plain && [ -s plain.txt ]; then
	as_awk without_stacks plain.txt
else
	skip without_stacks "perf cannot record: $(tail -n 1 perf.log)"
fi
stop
