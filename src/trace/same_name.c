/* same_name - where the kernel's functions are that have a name in common.
 *
 * A static function of one file, or of one module, may have the name of
 * another's. A probe by name is refused by newer kernels then; older ones take
 * the first that they come by, of the kernel proper or of any module. kallsyms
 * has all with their addresses; it is read once for all names.
 */
#include "trace/same_name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/fs.h"
#include "sys/kfuncs.h"

static int take(void *arg, const struct kfunc *k)
{
	struct same_names *s = arg;
	int64_t name = intern_find(&s->names, k->name, strlen(k->name));
	int64_t module = -1;
	struct same_name *one;

	if (name < 0 || !k->addr)
		return 0;
	if (k->module)
		module = intern_put(&s->modules, k->module, strlen(k->module));
	one = k->module && module < 0 ? NULL : vec_push(&s->v);
	if (!one)
		return -ENOMEM;
	*one = (struct same_name){
		.name = (uint32_t)name, .module = (uint32_t)(module + 1),
		.address = k->addr,
	};
	return 0;
}

static int names_read(struct same_names *s, const struct points *points)
{
	struct kfuncs_facts facts;
	int fd, err;

	for (size_t i = 0; i < points->v.n; i++) {
		const struct point *p = &points->v.v[i];

		if (probe_is_kernel(p->kind) && (!p->many || p->repeated) &&
		    intern_put(&s->names, p->symbol, strlen(p->symbol)) < 0)
			return -ENOMEM;
	}
	fd = fs_open(FS_PROC, "kallsyms", O_RDONLY);
	if (fd < 0)
		return fd;
	err = kfuncs_each_in(fd, KFUNCS_KALLSYMS, -1, take, s, &facts);
	close(fd);
	return err;
}

/* The module's number + 1, 0 = the kernel, -1 = any, -ENOENT. */
static int64_t module_of(const struct same_names *s, const struct point *p)
{
	int64_t id;

	if (!p->module)
		return p->many ? 0 : -1;
	id = intern_find(&s->modules, p->module, strlen(p->module));
	return id < 0 ? -ENOENT : id + 1;
}

int64_t same_names_of(struct same_names *s, const struct points *points,
		      const struct point *p, const char *symbol, uint64_t **to)
{
	int64_t name, module, n = 0;

	if (!s->is_read)
		s->err = names_read(s, points);
	s->is_read = true;
	if (s->err)
		return s->err;
	*to = mem_zalloc((s->v.n + 1) * sizeof(**to));
	if (!*to)
		return -ENOMEM;
	name = intern_find(&s->names, symbol, strlen(symbol));
	module = module_of(s, p);
	for (size_t i = 0; i < s->v.n; i++)
		if (s->v.v[i].name == name &&
		    (module == -1 || s->v.v[i].module == module))
			(*to)[n++] = s->v.v[i].address;
	return n;
}

void same_names_free(struct same_names *s)
{
	intern_free(&s->names);
	intern_free(&s->modules);
	vec_free(&s->v);
}
