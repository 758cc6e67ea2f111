# cgroups - of either version, and of both beside each other.
# guest: 5.10
# guest: 7.2
program chain split
mkdir -p "$TMP/v1" "$TMP/v2"
mount -t cgroup2 none "$TMP/v2"
mkdir "$TMP/v2/one"
(echo 0 >"$TMP/v2/one/cgroup.procs"; exec "$TMP/chain" 600000) &
chain=$!
spin "$TMP/split"
# cgroup NAME FOLDER: it alone is sampled.
cgroup() {
	can "$1" -U -F 199 --cgroup "$2" 1
	chain_named "$1: names" 20
	[ "$(matching '^chain;')" = "$(total)" ] && pass "$1: it alone" ||
		fail "$1: it alone" "$(cat "$TMP/out")"
}
cgroup "cgroup v2" "$TMP/v2/one"
SONDE_WITHOUT=bpf cannot "cgroup v2, not yet active" \
	--cgroup "$TMP/v2/one" 1
says "cgroup v2, not yet active: why" "perf is not yet active in the folders"
says "cgroup v2, not yet active: what helps" "cgroup.subtree_control"
controller=$(cut -d' ' -f1 "$TMP/v2/cgroup.controllers")
echo "+$controller" >"$TMP/v2/cgroup.subtree_control"
SONDE_WITHOUT=bpf cgroup "cgroup v2 without bpf" "$TMP/v2/one"
echo "-$controller" >"$TMP/v2/cgroup.subtree_control"
if mount -t cgroup -o perf_event none "$TMP/v1"; then
	mkdir "$TMP/v1/one"
	echo $chain >"$TMP/v1/one/cgroup.procs"
	cgroup "cgroup v1" "$TMP/v1/one"
	SONDE_WITHOUT=bpf cgroup "cgroup v1 without bpf" "$TMP/v1/one"
	cgroup "cgroup v2 beside v1" "$TMP/v2/one"
	SONDE_WITHOUT=bpf cannot "cgroup v2 beside v1 without bpf" \
		--cgroup "$TMP/v2/one" 1
	says "cgroup v2 beside v1 without bpf: why" \
		"a hierarchy of version 1 has it"
else
	skip "cgroup v1" "the hierarchy cannot be mounted"
fi
cannot "no cgroup" --cgroup "$TMP" 1
says "no cgroup: why" "not a folder of a cgroup file system"
kill $chain
stop
kernel_is_well
