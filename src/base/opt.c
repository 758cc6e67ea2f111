/* opt - command-line options from a table, which is also their help. */
#include "base/opt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/near.h"

/* A way through a table, and the groups in it. */
struct walk {
	const struct opt *next, *back;	/* NULL: in no group */
	size_t at;			/* where the settings begin */
};

struct parse {
	const char *command;
	const struct opt *table;
	char *settings;
	size_t at;			/* of the option found last */
	const struct opt *given[32];	/* those that can exclude another */
	size_t ngiven;
};

/* The next option; NULL = there are no more. */
static const struct opt *walk(struct walk *w)
{
	for (;;) {
		const struct opt *o = w->next++;

		if (o->kind == OPT_GROUP) {
			*w = (struct walk){ o->arg, w->next, o->at };
		} else if (o->letter || o->name) {
			return o;
		} else {
			if (!w->back)
				return NULL;
			*w = (struct walk){ w->back, NULL, 0 };
		}
	}
}

/* "-F" or "--frequency", as the user wrote it. */
static const char *spelled(const struct opt *o, bool by_letter, char text[64])
{
	if (by_letter)
		snprintf(text, 64, "-%c", o->letter);
	else
		snprintf(text, 64, "--%s", o->name);
	return text;
}

static const struct opt *find_letter(struct parse *p, char letter)
{
	struct walk w = { .next = p->table };
	const struct opt *o;

	while ((o = walk(&w))) {
		p->at = w.at;
		if (o->letter == letter)
			return o;
	}
	log_error("%s: no option -%c", p->command, letter);
	log_hint("sonde help %s lists the options", p->command);
	return NULL;
}

static const struct opt *find_name(struct parse *p, const char *name)
{
	struct near near = { .wanted = name };
	struct walk w = { .next = p->table };
	const struct opt *o;

	while ((o = walk(&w))) {
		p->at = w.at;
		if (o->name && !strcmp(o->name, name))
			return o;
		if (o->name && o->help)
			near_offer(&near, o->name);
	}
	log_error("%s: no option --%s", p->command, name);
	if (near.best)
		log_hint("the nearest is --%s", near.best);
	else
		log_hint("sonde help %s lists the options", p->command);
	return NULL;
}

static int bad_value(const struct parse *p, const struct opt *o,
		     const char *as, const char *value, int err)
{
	const char *what = o->kind == OPT_LIST ? "numbers" : "a number";

	if (err == -ENOMEM)
		log_error("%s: out of memory", p->command);
	else if (err == -E2BIG)
		log_error("%s: %s: too many numbers", p->command, as);
	else if (err != -ERANGE)
		log_error("%s: %s '%s': %s expected", p->command, as, value,
			  what);
	else if (o->max)
		log_error("%s: %s '%s': not within %llu..%llu", p->command, as,
			  value, (unsigned long long)o->min,
			  (unsigned long long)o->max);
	else
		log_error("%s: %s '%s': must be at least %llu, and fit in 64 "
			  "bits", p->command, as, value,
			  (unsigned long long)o->min);
	return err == -ENOMEM ? err : -EINVAL;
}

static int lacks_value(const struct parse *p, const struct opt *o,
		       const char *as)
{
	log_error("%s: %s needs %s", p->command, as, (const char *)o->arg);
	return -EINVAL;
}

static int check_excluded(struct parse *p, const struct opt *o)
{
	if (!o->excludes)
		return 0;
	for (size_t i = 0; i < p->ngiven; i++) {
		const struct opt *was = p->given[i];
		char a[64], b[64];

		if (was == o || !(was->excludes & o->excludes))
			continue;
		log_error("%s: %s and %s exclude each other", p->command,
			  spelled(was, was->letter, a),
			  spelled(o, o->letter, b));
		return -EINVAL;
	}
	if (p->ngiven < sizeof(p->given) / sizeof(*p->given))
		p->given[p->ngiven++] = o;
	return 0;
}

static int set(struct parse *p, const struct opt *o, const char *as,
	       const char *value)
{
	uint64_t max = o->max ? o->max : UINT64_MAX;
	void *to = p->settings + p->at + o->at;
	int err = 0;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)to = true;
		break;
	case OPT_NUM:
		err = num_u64(value, o->min, max, to);
		break;
	case OPT_TEXT:
		*(const char **)to = value;
		break;
	case OPT_LIST:
		err = num_list(value, false, max, to);
		break;
	}
	if (err)
		return bad_value(p, o, as, value, err);
	return check_excluded(p, o);
}

/* "--name", "--name=value", "--name value". *next moves past what was used. */
static int parse_long(struct parse *p, char **argv, int argc, int *next)
{
	char name[64], as[64];
	const char *text = argv[*next] + 2, *value;
	size_t n = strcspn(text, "=");
	const struct opt *o;

	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	o = find_name(p, name);
	if (!o)
		return -EINVAL;
	spelled(o, false, as);
	value = text[n] ? text + n + 1 : NULL;
	if (o->kind == OPT_FLAG && value) {
		log_error("%s: %s takes no value", p->command, as);
		return -EINVAL;
	}
	if (o->kind != OPT_FLAG && !value) {
		if (*next + 1 >= argc)
			return lacks_value(p, o, as);
		value = argv[++*next];
	}
	return set(p, o, as, value);
}

/* "-f", "-fd", "-F99", "-F 99". */
static int parse_letters(struct parse *p, char **argv, int argc, int *next)
{
	const char *text = argv[*next] + 1;

	for (; *text; text++) {
		const struct opt *o = find_letter(p, *text);
		const char *value;
		char as[64];
		int err;

		if (!o)
			return -EINVAL;
		spelled(o, true, as);
		if (o->kind == OPT_FLAG) {
			err = set(p, o, as, NULL);
			if (err)
				return err;
			continue;
		}
		value = text[1] ? text + 1 : NULL;
		if (!value && *next + 1 >= argc)
			return lacks_value(p, o, as);
		return set(p, o, as, value ? value : argv[++*next]);
	}
	return 0;
}

int opt_parse(const char *command, const struct opt *table, void *settings,
	      int argc, char **argv, struct opt_rest *rest)
{
	struct parse p = {
		.command = command, .table = table, .settings = settings,
	};
	int i, err = 0;

	*rest = (struct opt_rest){ .args = argv + 1 };
	for (i = 1; i < argc && !err; i++) {
		if (!strcmp(argv[i], "--")) {
			rest->command = argv + i + 1;
			break;
		}
		if (!strncmp(argv[i], "--", 2))
			err = parse_long(&p, argv, argc, &i);
		else if (argv[i][0] == '-' && argv[i][1])
			err = parse_letters(&p, argv, argc, &i);
		else
			rest->args[rest->nargs++] = argv[i];
	}
	if (!err && rest->command && !*rest->command) {
		log_error("%s: -- needs a command", command);
		err = -EINVAL;
	}
	return err;
}

void opt_help(const struct opt *table, FILE *out)
{
	struct walk w = { .next = table };
	const struct opt *o;

	while ((o = walk(&w))) {
		char left[80];

		if (!o->help)
			continue;
		snprintf(left, sizeof(left), "%c%c%s%s%s%s%s",
			 o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			 o->letter && o->name ? ", " : "  ",
			 o->name ? "--" : "", o->name ? o->name : "",
			 o->arg ? " " : "", o->arg ? (const char *)o->arg :
			 "");
		fprintf(out, "  %-30s %s\n", left, o->help);
	}
}
