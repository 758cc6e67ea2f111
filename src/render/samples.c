/* samples - the stacks that a flame graph was merged from, one by one. */
#include "render/samples.h"

#include <errno.h>
#include <string.h>

/* Leave what is at that depth or above. */
static int leave_to(struct samples *s, size_t depth)
{
	int err = 0;

	for (; s->path.n > depth && !err; s->path.n--)
		if (s->leave)
			err = s->leave(s->arg, s->path.v, s->path.n);
	return err;
}

static int enter_box(void *arg, const struct flame_box *box)
{
	struct samples *s = arg;
	struct sample_frame *at;
	int64_t frame;
	int err = leave_to(s, box->depth);

	if (err)
		return err;
	frame = intern_put(&s->frames, &box->label, sizeof(box->label));
	at = vec_push(&s->path);
	if (frame < 0 || !at)
		return -ENOMEM;
	*at = (struct sample_frame){
		s->places++, (uint32_t)frame, box->value,
	};
	/* Sums that got saturated can be less than their parts. */
	if (box->depth)
		at[-1].self -= box->value < at[-1].self ? box->value
							: at[-1].self;
	return s->enter ? s->enter(s->arg, s->path.v, s->path.n) : 0;
}

int samples_walk(struct samples *s)
{
	int err;

	s->places = 0;
	s->path.n = 0;
	err = flame_walk(s->flame, 0, enter_box, s);
	return err ? err : leave_to(s, 0);
}

struct flame_frame samples_frame(const struct samples *s, uint32_t frame)
{
	uint32_t label;

	memcpy(&label, intern_bytes(&s->frames, frame, NULL), sizeof(label));
	return flame_label(s->flame, label);
}

void samples_free(struct samples *s)
{
	intern_free(&s->frames);
	vec_free(&s->path);
}
