/* tp_format - tracefs's description of a tracepoint's record, parsed.
 *
 *   name: sched_switch
 *   ID: 372
 *   format:
 *   	field:int common_pid;	offset:4;	size:4;	signed:1;
 *
 *   	field:char prev_comm[16];	offset:8;	size:16;
 *   	field:__data_loc char[] name;	offset:24;	size:4;	signed:0;
 *
 *   print fmt: "prev_comm=%s ...", REC->prev_comm, ...
 *
 * A type is C, but for what says where the data is. The strings stay where they
 * are in our copy of the text, each ended by a NUL in place of what followed
 * it. tp_print.c reads the last line. */
#include "sys/tp_format.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "sys/tp_print.h"

enum {
	TEXT_MAX = 256 << 10,
	FIELDS_MAX = 512,
	PLACE_MAX = 0xffff,	/* offsets and sizes: a record's are 16 bits */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static const struct {
	char name[10];
	uint8_t size;
} sizes[] = {
	{ "char", 1 }, { "u8", 1 }, { "s8", 1 }, { "__u8", 1 },
	{ "__s8", 1 }, { "uint8_t", 1 }, { "int8_t", 1 }, { "bool", 1 },
	{ "short", 2 }, { "u16", 2 }, { "s16", 2 }, { "__u16", 2 },
	{ "__s16", 2 }, { "uint16_t", 2 }, { "int16_t", 2 },
	{ "int", 4 }, { "unsigned", 4 }, { "u32", 4 }, { "s32", 4 },
	{ "__u32", 4 }, { "__s32", 4 }, { "uint32_t", 4 }, { "int32_t", 4 },
	{ "pid_t", 4 }, { "u64", 8 }, { "s64", 8 }, { "__u64", 8 },
	{ "__s64", 8 }, { "uint64_t", 8 }, { "int64_t", 8 },
	{ "long", sizeof(long) },
};

/* The size of a type in bytes, 0 = not known. */
static uint32_t type_size(const char *type)
{
	const char *last = type + strlen(type);

	if (strchr(type, '*'))
		return sizeof(void *);
	if (strstr(type, "long long"))
		return 8;
	while (last > type && is_word(last[-1]))
		last--;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (!strcmp(last, sizes[i].name))
			return sizes[i].size;
	return 0;
}

static bool is_int_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool is_struct(const char *type)
{
	return !strchr(type, '*') &&
	       (strstr(type, "struct ") || strstr(type, "union "));
}

static bool is_text(const char *type)
{
	return !strcmp(type, "char") || !strcmp(type, "const char");
}

static void set_array(struct tp_field *f)
{
	f->kind = TP_ARRAY;
	f->elem_size = type_size(f->type);
	if (f->where == TP_FIXED && f->count && !(f->size % f->count))
		f->elem_size = f->size / f->count;
	if (is_text(f->type))
		f->kind = TP_STRING;
	else if (is_struct(f->type) || !is_int_size(f->elem_size))
		f->kind = TP_BYTES;
	f->count = 0;
	if (f->where == TP_FIXED && is_int_size(f->elem_size))
		f->count = f->size / f->elem_size;
}

static void set_kind(struct tp_field *f, bool array)
{
	if (f->where != TP_FIXED && f->size != 4)
		f->kind = TP_BAD;
	else if (array || f->where != TP_FIXED)
		set_array(f);
	else if (strchr(f->type, '*') && (f->size == 4 || f->size == 8))
		f->kind = TP_POINTER;
	else if (is_int_size(f->size) && !is_struct(f->type))
		f->kind = TP_INT;
	else if (f->size)
		f->kind = TP_BYTES;
	if (f->kind == TP_POINTER)
		f->show = TP_HEX;
	else if (f->kind == TP_INT && !strcmp(f->type, "dev_t"))
		f->show = TP_DEVICE;
}

/* Read the brackets before `end`; *count = the product of what is in them, 0
 * when it is no number. Returns where they begin. */
static char *take_brackets(char *decl, char *end, uint32_t *count)
{
	uint64_t product = 1;

	while (end > decl && end[-1] == ']') {
		char *open = end - 1;
		uint64_t n = 0;

		while (open > decl && *open != '[')
			open--;
		if (*open != '[' ||
		    num_dec(open + 1, end - 1, &n) != end - 1 ||
		    n > PLACE_MAX)
			n = 0;
		product = product * n <= PLACE_MAX ? product * n : 0;
		end = open;
	}
	*count = (uint32_t)product;
	return end;
}

/* Take `word` and blanks off the front. */
static bool take_word(char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) || !is_blank((*at)[n]))
		return false;
	*at += n;
	*at += strspn(*at, " \t");
	return true;
}

static char *skip_back(const char *from, char *end)
{
	while (end > from && is_blank(end[-1]))
		end--;
	return end;
}

/* "__data_loc char[] name", "unsigned long args[6]"; NUL-terminated. False when
 * there is no name or no type. */
static bool read_decl(char *decl, struct tp_field *f, bool *array)
{
	char *end, *name;
	uint32_t ignored;

	decl += strspn(decl, " \t");
	if (take_word(&decl, "__data_loc"))
		f->where = TP_DATA_LOC;
	else if (take_word(&decl, "__rel_loc"))
		f->where = TP_REL_LOC;
	end = skip_back(decl, decl + strlen(decl));
	name = take_brackets(decl, end, &f->count);
	*array = name != end;
	end = skip_back(decl, name);
	for (name = end; name > decl && is_word(name[-1]); name--)
		;
	*end = '\0';
	end = skip_back(decl, name);
	if (!*name || end == decl || end == name)
		return false;
	*take_brackets(decl, end, &ignored) = '\0';
	*end = '\0';
	f->type = decl;
	f->name = name;
	return *decl;
}

/* The number behind `label` on a line, -1 = none. */
static long labelled(const char *line, const char *label)
{
	const char *p = strstr(line, label);
	uint64_t n;

	if (!p)
		return -1;
	p += strlen(label);
	if (!num_dec(p, p + strlen(p), &n) || n > PLACE_MAX)
		return -1;
	return (long)n;
}

/* What follows "field:" on a line. */
static int read_field(struct tp_format *out, char *text)
{
	char *rest = strchr(text, ';');
	struct tp_field f = { 0 }, *to;
	long offset, size;
	bool array;

	if (!rest || out->nfields == FIELDS_MAX)
		return 0;
	*rest++ = '\0';
	if (!read_decl(text, &f, &array))
		return 0;
	offset = labelled(rest, "\toffset:");
	size = labelled(rest, "\tsize:");
	f.is_signed = labelled(rest, "\tsigned:") == 1;
	if (!array || offset < 0 || size < 0)
		f.count = 0;
	if (offset >= 0 && size >= 0) {
		f.offset = (uint32_t)offset;
		f.size = (uint32_t)size;
		set_kind(&f, array);
	}
	if (!vec_room((void **)&out->fields, &out->fields_cap,
		      out->nfields + 1, sizeof(f)))
		return -ENOMEM;
	to = &out->fields[out->nfields];
	*to = f;
	if (out->ncommon == out->nfields++ && !strncmp(f.name, "common_", 7))
		out->ncommon++;
	return 0;
}

static int read_line(struct tp_format *out, char *line)
{
	uint64_t n;

	line += strspn(line, " \t");
	if (!strncmp(line, "field:", 6))
		return read_field(out, line + 6);
	if (!strncmp(line, "name: ", 6))
		out->name = line + 6;
	else if (!strncmp(line, "ID: ", 4) &&
		 num_dec(line + 4, line + strlen(line), &n) && n <= INT32_MAX)
		out->id = (int)n;
	return 0;
}

int tp_format_parse(const char *text, size_t len, struct tp_format *out)
{
	char *line, *end;
	int err = 0;

	*out = (struct tp_format){ .name = "", .id = -1 };
	if (len > TEXT_MAX)
		return -E2BIG;
	out->text = mem_zalloc(len + 1);
	if (!out->text)
		return -ENOMEM;
	memcpy(out->text, text, len);
	for (line = out->text; !err && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (!strncmp(line, "print fmt: ", 11))
			return tp_print_parse(out, line + 11);
		if (*end)
			*end++ = '\0';
		err = read_line(out, line);
	}
	return err;
}

void tp_format_free(struct tp_format *f)
{
	mem_free(f->fields);
	mem_free(f->names);
	mem_free(f->text);
	*f = (struct tp_format){ .name = "", .id = -1 };
}

const struct tp_field *tp_field_find(const struct tp_format *f,
				     const char *name)
{
	for (size_t i = 0; i < f->nfields; i++)
		if (!strcmp(f->fields[i].name, name))
			return &f->fields[i];
	return NULL;
}
