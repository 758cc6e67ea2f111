/* btf - the kernel's own types: fields, functions, tracepoints, enumerators.
 *
 * BTF (Documentation/bpf/btf.rst) is a header, types, and strings. A type is
 * three words: the name's offset among the strings; kind, count and a flag; a
 * size or another type's number. What follows it depends on its kind: members,
 * parameters, enumerators. Everything between header and strings is made of
 * 32-bit words, so the bytes of the other kind of machine are turned round at
 * once. The n-th type has the number n, from 1; a module's types go on where
 * the kernel's end, and so do its strings.
 *
 * Opening checks where each type ends and notes where it starts: 4 bytes for
 * each of 150,000, in a millisecond or two, after reading 5.5 MB, which takes
 * some more; where memory is too short for them, there are no types. Numbers
 * of types and of strings are checked when they are followed. Types may name
 * each other in circles, so every walk counts its steps. Looking something up
 * reads the names of all types once, which takes a millisecond: callers ask
 * for a few things, when they start. Most ask for several fields of the same
 * few structs, whose numbers are remembered.
 */
#include "sys/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"
#include "sys/feature.h"
#include "sys/fs.h"

/* include/uapi/linux/btf.h; kinds up to Linux 6.0. */
enum kind {
	KIND_VOID, KIND_INT, KIND_PTR, KIND_ARRAY, KIND_STRUCT, KIND_UNION,
	KIND_ENUM, KIND_FWD, KIND_TYPEDEF, KIND_VOLATILE, KIND_CONST,
	KIND_RESTRICT, KIND_FUNC, KIND_FUNC_PROTO, KIND_VAR, KIND_DATASEC,
	KIND_FLOAT, KIND_DECL_TAG, KIND_TYPE_TAG, KIND_ENUM64, KINDS,
};

enum {
	MAGIC = 0xeb9f, MAGIC_TURNED = 0x9feb,
	HEADER = 24,		/* bytes of it that are read */
	WORDS = 3,		/* of a type, before what follows it */
	INT_SIGNED = 1,
	STEPS = 32,		/* along typedefs and pointers */
	NESTING = 16,		/* of structs without a name */
	MEMBERS = 1 << 16,	/* that one search looks at */
	FILE_MAX = 256 << 20,
	KNOWN = 8,		/* structs that are remembered */
};

/* A struct that is the only one of its name. */
struct known {
	const char *name;
	uint32_t id;		/* 0 = none yet */
};

struct btf {
	const struct btf *base;	/* NULL for the kernel's own */
	struct btf *owned;	/* the same, when it goes with this one */
	unsigned users;		/* of the kernel's */
	void *data;		/* the file */
	size_t mapped;		/* bytes of it that are mapped; 0: allocated */
	const uint32_t *words;	/* the types; aligned */
	const char *strings;
	uint32_t strings_len;	/* > 0; the last byte is NUL */
	uint32_t *at;		/* by number - first: the type's first word */
	uint32_t first, n;	/* numbers first <= id < first + n */
	uint32_t first_string;
	struct known *known;	/* so many */
};

struct type {
	const char *name;
	enum kind kind;
	uint32_t count;
	bool flag;
	uint32_t size;		/* or the number of a type */
	const uint32_t *more;	/* what follows, complete */
};

/* Opening */

static uint32_t turned(uint32_t w)
{
	return w >> 24 | (w >> 8 & 0xff00) | (w << 8 & 0xff0000) | w << 24;
}

/* Words behind a type; < 0 for a kind that nobody knows. */
static int64_t words_after(uint32_t info)
{
	static const struct { int8_t fixed, each; } after[KINDS] = {
		[KIND_INT] = { 1, 0 }, [KIND_ARRAY] = { 3, 0 },
		[KIND_STRUCT] = { 0, 3 }, [KIND_UNION] = { 0, 3 },
		[KIND_ENUM] = { 0, 2 }, [KIND_FUNC_PROTO] = { 0, 2 },
		[KIND_VAR] = { 1, 0 }, [KIND_DATASEC] = { 0, 3 },
		[KIND_DECL_TAG] = { 1, 0 }, [KIND_ENUM64] = { 0, 3 },
	};
	uint32_t kind = info >> 24 & 0x1f;

	if (kind == KIND_VOID || kind >= KINDS)
		return -1;
	return after[kind].fixed + after[kind].each * (int64_t)(info & 0xffff);
}

/* Note where the types start. How many there are, or -EINVAL. */
static int64_t types_walk(const uint32_t *words, size_t n, uint32_t *at)
{
	int64_t types = 0;
	size_t i = 0;

	while (i < n) {
		int64_t after = n - i < WORDS ? -1 : words_after(words[i + 1]);

		if (after < 0 || (size_t)after > n - i - WORDS)
			return -EINVAL;
		at[types++] = (uint32_t)i;
		i += WORDS + (size_t)after;
	}
	return types;
}

/* The header's words: magic, header length, and types and strings as offset
 * (from the header's end) and length. */
static int sections_find(struct btf *b, size_t size, uint32_t **words,
			 size_t *nwords)
{
	uint32_t head[HEADER / 4], *v = b->data;
	char *bytes = b->data;
	bool turn = false;
	uint16_t magic = 0;
	uint64_t start;

	if (size >= HEADER)
		memcpy(&magic, bytes, sizeof(magic));
	turn = magic == MAGIC_TURNED;
	if (magic != MAGIC && !turn)
		return -EINVAL;
	for (int i = 1; i < HEADER / 4; i++)
		head[i] = turn ? turned(v[i]) : v[i];
	start = head[1] + (uint64_t)head[2];
	if (head[1] < HEADER || start % 4 || head[3] % 4 ||
	    start + head[3] > size || !head[5] ||
	    (uint64_t)head[1] + head[4] + head[5] > size)
		return -EINVAL;
	*words = v + start / 4;
	*nwords = head[3] / 4;
	b->strings = bytes + head[1] + head[4];
	b->strings_len = head[5];
	for (size_t i = 0; turn && i < *nwords; i++)
		(*words)[i] = turned((*words)[i]);
	/* Last, for a hostile file's strings may lie among its types. */
	return b->strings[b->strings_len - 1] ? -EINVAL : 0;
}

static int types_index(struct btf *b, size_t size)
{
	uint32_t *words;
	size_t nwords;
	int64_t n;
	int err = sections_find(b, size, &words, &nwords);

	if (err)
		return err;
	b->words = words;
	b->first = 1;
	if (b->base) {
		b->first = b->base->first + b->base->n;
		b->first_string = b->base->first_string + b->base->strings_len;
	}
	b->at = mem_zalloc((nwords / WORDS + 1) * sizeof(*b->at));
	b->known = mem_zalloc(KNOWN * sizeof(*b->known));
	if (!b->at || !b->known)
		return -ENOMEM;
	n = types_walk(words, nwords, b->at);
	if (n < 0)
		return (int)n;
	b->n = (uint32_t)n;
	return 0;
}

static void data_free(void *data, size_t mapped)
{
	if (mapped)
		munmap(data, mapped);
	else
		mem_free(data);
}

/* Takes over the bytes, also when it fails. */
static int btf_new(void *data, size_t size, bool is_mapped,
		   const struct btf *base, struct btf **out)
{
	struct btf *b = mem_zalloc(sizeof(*b));
	int err;

	if (!b) {
		data_free(data, is_mapped ? size : 0);
		return -ENOMEM;
	}
	b->data = data;
	b->mapped = is_mapped ? size : 0;
	b->base = base;
	b->users = 1;
	err = types_index(b, size);
	if (!err)
		*out = b;
	else
		btf_close(b);
	return err;
}

int btf_from_memory(const void *data, size_t n, const struct btf *base,
		    struct btf **out)
{
	void *copy = mem_zalloc(n + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, n);
	return btf_new(copy, n, false, base, out);
}

static int read_all(int fd, char *to, size_t n)
{
	size_t done = 0;
	ssize_t got;

	while (done < n) {
		got = pread(fd, to + done, n - done, (off_t)done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EINVAL;
		done += (size_t)got;
	}
	return 0;
}

/* Since Linux 6.16 the kernel's own types can be mapped, which saves 1,300
 * reads of a page. They are the kernel's memory: they do not shrink, and are
 * of this machine's byte order, so nobody writes to them. */
static void *file_map(int fd, size_t size)
{
	void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	uint16_t magic;

	if (data == MAP_FAILED)
		return NULL;
	memcpy(&magic, data, sizeof(magic));
	if (magic == MAGIC)
		return data;
	munmap(data, size);
	return NULL;
}

static int fd_read(int fd, const struct btf *base, struct btf **out)
{
	off_t end = lseek(fd, 0, SEEK_END);
	size_t size = (size_t)end;
	void *data = NULL;
	int err;

	if (end < HEADER || end > FILE_MAX)
		return end < 0 ? -errno : -EINVAL;
	if (!base)
		data = file_map(fd, size);
	if (data)
		return btf_new(data, size, true, base, out);
	data = mem_zalloc(size);
	if (!data)
		return -ENOMEM;
	err = read_all(fd, data, size);
	if (!err)
		return btf_new(data, size, false, base, out);
	mem_free(data);
	return err;
}

static int file_open(const char *name, const struct btf *base,
		     struct btf **out)
{
	char path[128];
	int fd, err;

	if ((size_t)snprintf(path, sizeof(path), "kernel/btf/%s", name) >=
	    sizeof(path) || strchr(name, '/'))
		return -ENOENT;
	fd = fs_open(FS_SYS, path, O_RDONLY);
	if (fd < 0)
		return fd;
	err = fd_read(fd, base, out);
	close(fd);
	return err;
}

static struct btf *kernel;	/* while somebody has it open */

static int kernel_open(struct btf **out)
{
	int err;

	if (!kernel) {
		if (feature_is_hidden("btf"))
			return -EOPNOTSUPP;
		err = file_open("vmlinux", NULL, &kernel);
		if (err)
			return err == -ENOENT ? -EOPNOTSUPP : err;
		kernel->users = 0;
	}
	kernel->users++;
	*out = kernel;
	return 0;
}

int btf_open(const char *module, struct btf **out)
{
	struct btf *base;
	int err = kernel_open(&base);

	if (err || !module) {
		if (!err)
			*out = base;
		return err;
	}
	err = file_open(module, base, out);
	if (err)
		btf_close(base);
	else
		(*out)->owned = base;
	return err;
}

void btf_close(struct btf *b)
{
	if (!b || --b->users)
		return;
	if (b == kernel)
		kernel = NULL;
	btf_close(b->owned);
	mem_free(b->at);
	mem_free(b->known);
	data_free(b->data, b->mapped);
	mem_free(b);
}

/* Types and names */

/* "" where there is none, or its offset makes no sense. */
static const char *name_at(const struct btf *b, uint32_t off)
{
	while (b->base && off < b->first_string)
		b = b->base;
	off -= b->first_string;
	return off < b->strings_len ? b->strings + off : "";
}

static uint32_t types_end(const struct btf *b)
{
	return b->first + b->n;
}

/* NULL: no such type. Void is none. */
static const uint32_t *type_words(const struct btf *b, uint32_t id)
{
	while (b->base && id < b->first)
		b = b->base;
	if (id < b->first || id - b->first >= b->n)
		return NULL;
	return b->words + b->at[id - b->first];
}

static enum kind type_kind(const uint32_t *words)
{
	return words[1] >> 24 & 0x1f;
}

static bool type_get(const struct btf *b, uint32_t id, struct type *t)
{
	const uint32_t *w = type_words(b, id);

	if (!w)
		return false;
	t->name = name_at(b, w[0]);
	t->kind = type_kind(w);
	t->count = w[1] & 0xffff;
	t->flag = w[1] >> 31;
	t->size = w[2];
	t->more = w + WORDS;
	return true;
}

static bool kind_is_alias(enum kind kind)
{
	return kind == KIND_TYPEDEF || kind == KIND_CONST ||
	       kind == KIND_VOLATILE || kind == KIND_RESTRICT ||
	       kind == KIND_TYPE_TAG;
}

/* Through typedefs and qualifiers; *id becomes the type's own number. False:
 * void, no such type, or a circle. */
static bool type_resolve(const struct btf *b, uint32_t *id, struct type *t)
{
	for (int i = 0; i < STEPS; i++) {
		if (!type_get(b, *id, t))
			return false;
		if (!kind_is_alias(t->kind))
			return true;
		*id = t->size;
	}
	return false;
}

/* The next type of that name after *id (start with `from` - 1), of one of the
 * kinds, as a set of bits. Names are far from each other in memory, so those of
 * other kinds are not touched. */
static bool type_next(const struct btf *b, uint32_t *id, unsigned kinds,
		      const char *name, size_t len, struct type *t)
{
	uint32_t end = types_end(b);

	while (++*id < end) {
		const uint32_t *w = type_words(b, *id);

		if (w && kinds >> type_kind(w) & 1 && type_get(b, *id, t) &&
		    t->name[0] == name[0] && !strncmp(t->name, name, len) &&
		    !t->name[len])
			return true;
	}
	return false;
}

/* Bytes; 0 = unknown. An array multiplies; what it is of may be one, too. */
static uint32_t type_size(const struct btf *b, uint32_t id)
{
	uint64_t times = 1;
	struct type t;

	for (int i = 0; i < STEPS && type_resolve(b, &id, &t); i++) {
		switch (t.kind) {
		case KIND_PTR:
			times *= sizeof(void *);
			break;
		case KIND_ARRAY:
			times *= t.more[2];
			id = t.more[0];
			if (times > UINT32_MAX)
				return 0;
			continue;
		case KIND_INT: case KIND_STRUCT: case KIND_UNION:
		case KIND_ENUM: case KIND_ENUM64: case KIND_FLOAT:
			times *= t.size;
			break;
		default:
			return 0;
		}
		return times > UINT32_MAX ? 0 : (uint32_t)times;
	}
	return 0;
}

/* Fields */

/* A member on the way: the struct that it is in starts at `bit`. */
struct member {
	uint32_t type;
	uint64_t bit;
	uint8_t bits;		/* of a bit field, else 0 */
};

static bool is_struct(const struct type *t)
{
	return t->kind == KIND_STRUCT || t->kind == KIND_UNION;
}

/* Member i, in bits from the start of the outermost struct. */
static struct member member_at(const struct btf *b, const struct type *t,
			       uint32_t i, uint64_t start)
{
	const uint32_t *w = t->more + 3 * (size_t)i;
	struct member m = { .type = w[1], .bit = start + w[2] };
	uint32_t id = w[1];
	struct type of;

	if (t->flag) {
		m.bit = start + (w[2] & 0xffffff);
		m.bits = (uint8_t)(w[2] >> 24);
	} else if (type_resolve(b, &id, &of) && of.kind == KIND_INT &&
		   (of.more[0] & 0xff) != of.size * 8) {
		/* Before Linux 5.0 an int type itself told of its bits. */
		m.bit += of.more[0] >> 16 & 0xff;
		m.bits = (uint8_t)of.more[0];
	}
	return m;
}

/* Find a member by name, also in members that are structs without a name.
 * *budget is what bounds a struct that holds itself twice. */
static bool member_find(const struct btf *b, const struct type *t,
			const char *name, size_t len, int depth,
			int *budget, struct member *m)
{
	uint64_t start = m->bit;

	for (uint32_t i = 0; i < t->count && *budget > 0; i++, --*budget) {
		const char *its = name_at(b, t->more[3 * (size_t)i]);
		struct member at = member_at(b, t, i, start);
		struct type inner;

		if (!strncmp(its, name, len) && !its[len]) {
			*m = at;
			return true;
		}
		if (*its || depth == NESTING ||
		    !type_resolve(b, &at.type, &inner) || !is_struct(&inner))
			continue;
		if (member_find(b, &inner, name, len, depth + 1, budget,
				&at)) {
			*m = at;
			return true;
		}
	}
	return false;
}

/* From the struct along the path; `fields` begins after the first dot. */
static int path_follow(const struct btf *b, uint32_t id, const char *fields,
		       int *budget, struct member *m)
{
	struct type t;

	*m = (struct member) { .type = id };
	for (;;) {
		size_t len = strcspn(fields, ".");

		id = m->type;
		if (!len || !type_resolve(b, &id, &t) || !is_struct(&t) ||
		    m->bits)
			return -EINVAL;
		if (!member_find(b, &t, fields, len, 0, budget, m))
			return -ENOENT;
		if (!fields[len])
			return 0;
		fields += len + 1;
	}
}

/* The bits of a field in the smallest number, of the type's size or more, that
 * stands at a multiple of its size and has them all. */
static int place_bits(const struct member *m, struct btf_place *p)
{
	uint64_t size = p->size, first = m->bit;

	if (!size || size & (size - 1))
		return -EINVAL;
	while (size <= 8 &&
	       first / 8 % size * 8 + first % 8 + m->bits > size * 8)
		size *= 2;
	if (size > 8)
		return -EINVAL;
	p->size = (uint32_t)size;
	p->offset = (uint32_t)(first / 8 / size * size);
	first -= (uint64_t)p->offset * 8;
	p->bits = m->bits;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	p->shift = (uint8_t)first;
#else
	p->shift = (uint8_t)(size * 8 - first - m->bits);
#endif
	return 0;
}

static int place_make(const struct btf *b, const struct member *m,
		      struct btf_place *out)
{
	if (m->bit / 8 > INT32_MAX || (!m->bits && m->bit % 8))
		return -EINVAL;
	*out = (struct btf_place) {
		.offset = (uint32_t)(m->bit / 8),
		.size = type_size(b, m->type), .type = m->type,
	};
	return m->bits ? place_bits(m, out) : 0;
}

static bool places_agree(const struct btf_place *a, const struct btf_place *b)
{
	return a->offset == b->offset && a->size == b->size &&
	       a->shift == b->shift && a->bits == b->bits;
}

static uint32_t known_find(const struct btf *b, const char *name, size_t len)
{
	for (int i = 0; i < KNOWN && b->known[i].id; i++)
		if (!strncmp(b->known[i].name, name, len) &&
		    !b->known[i].name[len])
			return b->known[i].id;
	return 0;
}

static void known_add(const struct btf *b, const char *name, uint32_t id)
{
	int i = 0;

	while (i < KNOWN - 1 && b->known[i].id)
		i++;
	b->known[i] = (struct known) { name, id };
}

/* A struct's name may stand for several: headers that differ, or a static
 * struct of one file. One that has the field is meant. */
int btf_field(const struct btf *b, const char *path, struct btf_place *out)
{
	unsigned kinds = 1u << KIND_STRUCT | 1u << KIND_UNION |
			 1u << KIND_TYPEDEF;
	size_t len = strcspn(path, ".");
	uint32_t id, known = known_find(b, path, len), last = 0;
	bool found = false;
	int why = -ENOENT, budget = MEMBERS, n = 0;
	struct type t;

	if (!len || !path[len])
		return -EINVAL;
	for (id = known ? known - 1 : 0; (!known || !n) &&
	     type_next(b, &id, kinds, path, len, &t); n++) {
		struct btf_place place;
		struct member m;
		int err = path_follow(b, id, path + len + 1, &budget, &m);

		last = id;
		if (!err)
			err = place_make(b, &m, &place);
		if (err)
			why = err;
		else if (found && !places_agree(out, &place))
			return -ENOTUNIQ;
		else
			*out = place;
		found |= !err;
	}
	if (!known && n == 1 && type_get(b, last, &t))
		known_add(b, t.name, last);
	return found ? 0 : why;
}

/* Functions */

int btf_func(const struct btf *b, const char *name)
{
	uint32_t id = b->first - 1, found;
	size_t len = strlen(name);
	struct type t;

	if (!len || !type_next(b, &id, 1u << KIND_FUNC, name, len, &t))
		return -ENOENT;
	found = id;
	if (type_next(b, &id, 1u << KIND_FUNC, name, len, &t))
		return -ENOTUNIQ;
	return (int)found;
}

static bool is_char(const struct btf *b, uint32_t id)
{
	struct type t;

	return type_resolve(b, &id, &t) && t.kind == KIND_INT &&
	       !strcmp(t.name, "char");
}

static void value_describe(const struct btf *b, uint32_t type,
			   const char *name, struct btf_value *v)
{
	uint32_t id = type;
	struct type t;

	*v = (struct btf_value) { .name = name, .type = type };
	if (!type_resolve(b, &id, &t)) {
		v->class = id ? BTF_OTHER : BTF_VOID;
		return;
	}
	v->size = type_size(b, id);
	v->class = BTF_OTHER;
	if (t.kind == KIND_PTR)
		v->class = is_char(b, t.size) ? BTF_STRING : BTF_POINTER;
	else if (t.kind == KIND_FLOAT)
		v->class = BTF_FLOAT;
	else if (t.kind == KIND_INT || t.kind == KIND_ENUM ||
		 t.kind == KIND_ENUM64)
		v->class = BTF_INTEGER;
	v->is_signed = t.kind == KIND_INT ? t.more[0] >> 24 & INT_SIGNED :
		       v->class == BTF_INTEGER && t.flag;
}

/* `skip` parameters at the start are the kernel's own business. A last one
 * without type and name is "...". */
static int proto_read(const struct btf *b, uint32_t id, uint32_t skip,
		      struct btf_proto *out)
{
	struct type t;
	uint32_t n;

	if (!type_get(b, id, &t) || t.kind != KIND_FUNC_PROTO ||
	    t.count < skip)
		return -EINVAL;
	*out = (struct btf_proto) { 0 };
	n = t.count;
	if (n > skip && !t.more[2 * (n - 1)] && !t.more[2 * (n - 1) + 1]) {
		out->is_variadic = true;
		n--;
	}
	out->nparams = n - skip;
	for (uint32_t i = skip; i < n && i - skip < BTF_PARAMS; i++)
		value_describe(b, t.more[2 * i + 1],
			       name_at(b, t.more[2 * i]),
			       &out->params[i - skip]);
	value_describe(b, t.size, "", &out->ret);
	return 0;
}

int btf_func_proto(const struct btf *b, uint32_t func, struct btf_proto *out)
{
	struct type t;

	if (!type_get(b, func, &t) || t.kind != KIND_FUNC)
		return -EINVAL;
	return proto_read(b, t.size, 0, out);
}

/* typedef void (*btf_trace_NAME)(void *, ...) */
int btf_tracepoint_proto(const struct btf *b, const char *name,
			 struct btf_proto *out)
{
	char full[256];
	int len = snprintf(full, sizeof(full), "btf_trace_%s", name);
	uint32_t id = 0;
	struct type t;

	if ((size_t)len >= sizeof(full) ||
	    !type_next(b, &id, 1u << KIND_TYPEDEF, full, (size_t)len, &t))
		return -ENOENT;
	if (!type_resolve(b, &id, &t) || t.kind != KIND_PTR)
		return -EINVAL;
	return proto_read(b, t.size, 1, out);
}

/* Types as text */

static int text_append(const struct btf *b, uint32_t id, int steps,
		       struct buf *out);

static int pointer_text(const struct btf *b, uint32_t to, int steps,
			struct buf *out)
{
	struct type t;
	int err;

	if (type_get(b, to, &t) && t.kind == KIND_FUNC_PROTO) {
		err = text_append(b, t.size, steps, out);
		buf_puts(out, " (*)()");
		return err;
	}
	err = text_append(b, to, steps, out);
	if (!out->len || out->err || out->data[out->len - 1] != '*')
		buf_putc(out, ' ');
	buf_putc(out, '*');
	return err;
}

/* What is said of a pointer stands behind it, of anything else before it. */
static int qualified_text(const struct btf *b, uint32_t of, const char *word,
			  int steps, struct buf *out)
{
	struct type t;
	int err;

	if (type_get(b, of, &t) && t.kind == KIND_PTR) {
		err = text_append(b, of, steps, out);
		buf_puts(out, word);
		return err;
	}
	buf_fmt(out, "%s ", word);
	return text_append(b, of, steps, out);
}

static void tagged_text(const char *tag, const char *name, struct buf *out)
{
	buf_fmt(out, "%s %s", tag, *name ? name : "{}");
}

static int type_text(const struct btf *b, const struct type *t, int steps,
		     struct buf *out)
{
	int err;

	switch (t->kind) {
	case KIND_PTR:
		return pointer_text(b, t->size, steps, out);
	case KIND_CONST:
		return qualified_text(b, t->size, "const", steps, out);
	case KIND_VOLATILE:
		return qualified_text(b, t->size, "volatile", steps, out);
	case KIND_RESTRICT:
	case KIND_TYPE_TAG:
		return text_append(b, t->size, steps, out);
	case KIND_ARRAY:
		err = text_append(b, t->more[0], steps, out);
		buf_fmt(out, "[%u]", t->more[2]);
		return err;
	case KIND_STRUCT:
		tagged_text("struct", t->name, out);
		return 0;
	case KIND_UNION:
		tagged_text("union", t->name, out);
		return 0;
	case KIND_FWD:
		tagged_text(t->flag ? "union" : "struct", t->name, out);
		return 0;
	case KIND_ENUM:
	case KIND_ENUM64:
		tagged_text("enum", t->name, out);
		return 0;
	default:
		buf_puts(out, *t->name ? t->name : "?");
		return *t->name ? 0 : -EINVAL;
	}
}

static int text_append(const struct btf *b, uint32_t id, int steps,
		       struct buf *out)
{
	struct type t;

	if (!id) {
		buf_puts(out, "void");
		return 0;
	}
	if (!steps || !type_get(b, id, &t)) {
		buf_putc(out, '?');
		return -EINVAL;
	}
	return type_text(b, &t, steps - 1, out);
}

int btf_type_text(const struct btf *b, uint32_t type, struct buf *out)
{
	int err = text_append(b, type, STEPS, out);

	return out->err ? out->err : err;
}

/* Enumerators */

/* Those of a 32-bit enum are signed by the flag of the type. */
static int64_t enumerator_value(const struct type *t, const uint32_t *w)
{
	if (t->kind == KIND_ENUM64)
		return (int64_t)(w[1] | (uint64_t)w[2] << 32);
	return t->flag ? (int32_t)w[1] : (int64_t)w[1];
}

static bool enum_has(const struct btf *b, const struct type *t,
		     const char *name, int64_t *value)
{
	uint32_t width = t->kind == KIND_ENUM64 ? 3 : 2;

	for (uint32_t i = 0; i < t->count; i++) {
		const uint32_t *w = t->more + (size_t)width * i;

		if (strcmp(name_at(b, w[0]), name))
			continue;
		*value = enumerator_value(t, w);
		return true;
	}
	return false;
}

int btf_enumerator(const struct btf *b, const char *name, int64_t *value)
{
	uint32_t end = types_end(b);
	bool found = false;
	struct type t;

	for (uint32_t id = 1; *name && id < end; id++) {
		int64_t v;

		if (!type_get(b, id, &t) ||
		    (t.kind != KIND_ENUM && t.kind != KIND_ENUM64) ||
		    !enum_has(b, &t, name, &v))
			continue;
		if (found && v != *value)
			return -ENOTUNIQ;
		*value = v;
		found = true;
	}
	return found ? 0 : -ENOENT;
}
