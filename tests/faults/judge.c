/* judge - whether a disturbed run ended as it may.
 *
 * It may fail, if it says what and why. If it ends well, its result must add
 * up and every name in it must be true; what is missing from it must have been
 * told in a note that an undisturbed run does not have. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "faults.h"

struct symbol {
	uint64_t addr;
	char name[64];
};

struct symbols {
	struct symbol *v;
	size_t n;
};

static struct symbols program, kernel;

enum {
	SAMPLES_MIN = 10,		/* of 20 ms at 999 Hz */
	NOTES_MAX = 64,
};

static char usual[NOTES_MAX][160];	/* notes of undisturbed runs */
static size_t nusual;

/* -- what is true ------------------------------------------------------- */

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Code symbols from lines as nm and kallsyms have them. */
static void symbols_load(struct symbols *s, FILE *f)
{
	char line[1024], type;
	unsigned long long addr;
	struct symbol one;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %63s", &addr, &type, one.name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		one.addr = addr;
		if (!(s->n & (s->n + 1)))
			s->v = realloc(s->v, (2 * s->n + 2) * sizeof(one));
		s->v[s->n++] = one;
	}
	if (s->n)
		qsort(s->v, s->n, sizeof(one), by_addr);
}

void judge_init(const char *chain)
{
	char command[512];
	FILE *f;

	snprintf(command, sizeof(command), "nm '%s'", chain);
	f = popen(command, "r");
	symbols_load(&program, f);
	pclose(f);
	f = fopen("/proc/kallsyms", "r");
	symbols_load(&kernel, f);
	if (f)
		fclose(f);
}

/* One of the names at the last address at or before `addr`. */
static bool is_name_at(const struct symbols *s, uint64_t addr, const char *name)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i-- && s->v[i].addr == s->v[lo - 1].addr; )
		if (!strncmp(s->v[i].name, name, sizeof(s->v[i].name) - 1))
			return true;
	return false;
}

static bool is_known(const struct symbols *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strncmp(s->v[i].name, name, sizeof(s->v[i].name) - 1))
			return true;
	return false;
}

static bool is_kernel(uint64_t addr)
{
	return addr >> 63;
}

/* -- what was said ------------------------------------------------------ */

/* A note without its numbers. */
static void note_shape(const char *line, size_t n, char to[160])
{
	size_t at = 0;

	for (size_t i = 0; i < n && at < 159; i++)
		if (!isdigit((unsigned char)line[i]))
			to[at++] = line[i];
	to[at] = '\0';
}

static bool is_usual(const char *shape)
{
	/* The machine's load, not the fault, brings this about. */
	if (strstr(shape, "sampling was throttled"))
		return true;
	for (size_t i = 0; i < nusual; i++)
		if (!strcmp(usual[i], shape))
			return true;
	return false;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

void judge_baseline(const struct run *r)
{
	char shape[160];

	for (const char *l = r->err; *l; l = next_line(l)) {
		note_shape(l, strcspn(l, "\n"), shape);
		if (starts(l, "note: ") && !is_usual(shape) &&
		    nusual < NOTES_MAX)
			strcpy(usual[nusual++], shape);
	}
}

static bool has_news(const struct run *r)
{
	char shape[160];
	const char *p;

	for (const char *l = r->err; *l; l = next_line(l)) {
		note_shape(l, strcspn(l, "\n"), shape);
		p = strstr(l, " lost\n");
		if (p && p == l + strcspn(l, "\n") - 5 && p[-1] != '0')
			return true;	/* "N samples ..., M lost" */
		if (starts(l, "note: ") && !is_usual(shape) &&
		    !strstr(shape, " samples in "))
			return true;
	}
	return false;
}

/* "sonde: OBJECT: CAUSE". */
static bool has_message(const struct run *r)
{
	for (const char *l = r->err; *l; l = next_line(l)) {
		const char *end = l + strcspn(l, "\n"), *colon;

		if (!starts(l, "sonde: "))
			continue;
		colon = strstr(l + 7, ": ");
		if (colon && colon < end && colon > l + 8 && end > colon + 3)
			return true;
	}
	return false;
}

/* -- the result --------------------------------------------------------- */

struct tally {
	unsigned long samples, leaf, kernel_bare;
	const char *wrong;
};

static const char *wrong_frame(const char *text)
{
	static char message[256];

	snprintf(message, sizeof(message), "wrong name: %s", text);
	return message;
}

/* No name: an address, [unknown], [module+0x...]. */
static bool is_bare(const char *name)
{
	return !*name || *name == '[' || starts(name, "0x");
}

static void judge_frame_at(struct tally *t, char *frame)
{
	char *name;
	uint64_t addr = strtoull(frame, &name, 16);

	name += *name == ' ';
	if (is_kernel(addr) && kernel.n && is_bare(name))
		t->kernel_bare++;
	if (is_bare(name) || starts(name, "__vdso_") || starts(name, "bpf_"))
		return;
	if (is_kernel(addr) ? is_name_at(&kernel, addr, name) ||
			      is_name_at(&kernel, addr - 1, name)
			    : is_name_at(&program, addr, name) ||
			      is_name_at(&program, addr - 1, name))
		return;
	t->wrong = wrong_frame(frame);
}

static void judge_frame(struct tally *t, char *frame, bool addresses)
{
	if (addresses) {
		judge_frame_at(t, frame);
		return;
	}
	if (is_bare(frame) || starts(frame, "__vdso_") ||
	    starts(frame, "bpf_") || is_known(&program, frame) ||
	    is_known(&kernel, frame))
		return;
	t->wrong = wrong_frame(frame);
}

static void judge_folded(const struct run *r, struct tally *t)
{
	char *text = strdup(r->out), *line, *rest = text;

	while ((line = strsep(&rest, "\n")) && *line) {
		char *count = strrchr(line, ' '), *frame, *comm;
		unsigned long n = count ? strtoul(count, NULL, 10) : 0;

		if (!n) {
			t->wrong = wrong_frame(line);
			break;
		}
		*count = '\0';
		t->samples += n;
		if (strstr(line, "leaf"))
			t->leaf += n;
		comm = strsep(&line, ";");
		while (!strcmp(comm, "chain") && (frame = strsep(&line, ";")))
			judge_frame(t, frame, r->scenario->addresses);
	}
	free(text);
}

/* Frames are lines, leaf first, then "    -  COMM (PID)" and the count. */
static void judge_text(const struct run *r, struct tally *t)
{
	char *text = strdup(r->out), *line, *rest = text;
	bool has_leaf = false;

	while ((line = strsep(&rest, "\n"))) {
		char *word = line + strspn(line, " "), *end;
		unsigned long n = strtoul(word, &end, 10);

		if (word != line && n && !*end) {
			t->samples += n;
			t->leaf += has_leaf ? n : 0;
			has_leaf = false;
		} else if (word != line && *word != '-') {
			has_leaf |= !strcmp(word, "leaf");
			judge_frame(t, word, false);
		}
	}
	free(text);
}

static void judge_svg(const struct run *r, struct tally *t)
{
	const char *p = strstr(r->out, " samples");

	while (p && p > r->out && isdigit((unsigned char)p[-1]))
		p--;
	t->samples = p ? strtoul(p, NULL, 10) : 0;
	t->leaf = strstr(r->out, "leaf") ? t->samples : 0;
	if (r->out_len < 8 || strcmp(r->out + r->out_len - 7, "</svg>\n"))
		t->wrong = "the SVG file is not whole";
}

static const char *judge_result(const struct run *r)
{
	const char *note = strstr(r->err, "note: ");
	unsigned long said = ~0ul;
	struct tally t = { 0 };

	for (; note && said == ~0ul; note = strstr(note + 1, "note: "))
		if (sscanf(note, "note: %lu samples in", &said) != 1)
			said = ~0ul;
	if (r->scenario->format == FOLDED)
		judge_folded(r, &t);
	else if (r->scenario->format == TEXT)
		judge_text(r, &t);
	else
		judge_svg(r, &t);
	if (t.wrong)
		return t.wrong;
	if (r->hit_stderr)		/* what was to be told is lost */
		return NULL;
	if (said == ~0ul)
		return "no summary";
	if (strstr(r->err, "throttled: 0 %"))
		return "an untrue rate";
	if (said != t.samples)
		return "the counts do not add up to the summary";
	if (has_news(r))
		return NULL;
	if (t.samples < SAMPLES_MIN)
		return "samples are missing, and nothing says so";
	if (t.leaf * 10 < t.samples * (r->scenario->kernel ? 1 : 8))
		return "names are missing, and nothing says so";
	if (t.kernel_bare)
		return "kernel names are missing, and nothing says so";
	return NULL;
}

const char *judge(const struct run *r)
{
	if (r->hung)
		return "hangs";
	if (WIFSIGNALED(r->status))
		return "crashes";
	if (strstr(r->err, "Sanitizer") || strstr(r->err, "runtime error:"))
		return "sanitizer report";
	if (r->left)
		return "leaves a process";
	if (WEXITSTATUS(r->status) == 0)
		return judge_result(r);
	if (!has_message(r) && !r->hit_stderr)
		return "fails without a message of object and cause";
	return NULL;
}
