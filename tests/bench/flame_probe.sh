# flame_probe.sh - search and zoom a flame graph in headless Chromium.
#
#	sh flame_probe.sh FILE.svg PATTERN FRAME TMPDIR
#
# Searches for PATTERN and clicks the first frame named FRAME (any: a frame in
# the middle), by the events that a user causes, from a script appended to a
# copy of the file. Prints what it saw as "KEY VALUE" lines; "time" lines hold
# script and layout.
set -u

cat >"$4/probe.js" <<'E'
const get = id => document.getElementById(id);
const lines = [];
const say = (key, value) => lines.push(key + ' ' + value);
const click = e => e.dispatchEvent(new MouseEvent('click', {bubbles: true}));
const layout = () => [get('plot').getBBox(), get('matched').getBBox()];
const timed = (what, run) => {
	const start = performance.now();
	run();
	layout();
	say('time', what + ' ' + Math.ceil(performance.now() - start) + ' ms');
};
const search = text => {
	if (!document.getElementsByTagName('input').length)
		window.dispatchEvent(new KeyboardEvent('keydown',
			{key: 'f', ctrlKey: true, cancelable: true}));
	const input = document.getElementsByTagName('input')[0];
	input.value = text;
	input.dispatchEvent(new Event('input'));
};
const rects = Array.from(get('frames').querySelectorAll('rect'));
const place = r => {
	const box = r.getBoundingClientRect();
	const page = document.documentElement.getBoundingClientRect();
	return (box.left - page.left).toFixed(0) + '+' + box.width.toFixed(0);
};
const shown = () => Array.from(get('labels').children,
	e => e.textContent).join(',');
const frame = FRAME === 'any' ? rects[rects.length >> 1] :
	rects.find(r => r.previousSibling.textContent.startsWith(FRAME + ' ('));

layout();
say('labels', shown());
timed('search', () => search(PATTERN));
say('matched', get('matched').textContent);
say('hits', get('hits').getBBox().width.toFixed(0));
say('before', place(frame));
timed('zoom', () => click(frame));
say('zoomed', place(frame));
say('zoomed_labels', shown());
say('zoomed_matched', get('matched').textContent);
say('unzoom', get('unzoom').getAttribute('visibility'));
timed('unzoom', () => click(get('unzoom')));
say('after', place(frame));
say('after_labels', shown());
search('(');
say('bad', get('matched').textContent);
click(get('search'));
say('reset', '[' + get('matched').textContent + ']');
click(get('case'));
search(PATTERN.toUpperCase());
say('ignore_case', get('matched').textContent);
document.documentElement.setAttribute('data-seen', lines.join('|'));
E
{
	sed '$d' "$1"
	echo "<script><![CDATA[const PATTERN = '$2', FRAME = '$3';"
	cat "$4/probe.js"
	echo ']]></script></svg>'
} >"$4/probe.svg"

HOME=$4 timeout 120 chromium --headless --no-sandbox --disable-gpu \
	--disable-quic --no-first-run --disable-background-networking \
	--disable-component-update --disable-sync \
	--user-data-dir="$4/chromium" --dump-dom "file://$4/probe.svg" \
	2>"$4/chromium.log" |
	sed -n 's/^<svg .*data-seen="\([^"]*\)".*/\1/p' | head -n 1 |
	tr '|' '\n'
rm -rf "$4/chromium"
