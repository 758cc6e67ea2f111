/* tp_format - fuzz target: format files of tracepoints. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sys/tp_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct tp_format *format, const struct tp_field *f)
{
	static const uint64_t values[] = { 0, 1, 5, UINT64_MAX };
	struct buf text = { 0 };

	if (!*f->name || !*f->type || f->offset > 0xffff || f->size > 0xffff ||
	    !tp_field_find(format, f->name))
		abort();
	if (f->count && f->count * f->elem_size > f->size)
		abort();
	if (f->names && f->first + f->names > format->nnames)
		abort();
	if (f->kind == TP_INT || f->kind == TP_POINTER || f->kind == TP_ARRAY)
		for (size_t i = 0; i < 4; i++)
			tp_value_print(format, f, values[i], &text);
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_format f;

	if (!tp_format_parse((const char *)data, size, &f)) {
		if (f.ncommon > f.nfields || strlen(f.name) > size)
			abort();
		for (size_t i = 0; i < f.nfields; i++)
			use(&f, &f.fields[i]);
	}
	tp_format_free(&f);
	return 0;
}
