/* palette - which color a frame has: by kind a tone, by name a shade of it. */
#ifndef RENDER_PALETTE_H
#define RENDER_PALETTE_H

#include <stddef.h>
#include <stdint.h>

#include "render/flame.h"

struct palette;

/* NULL when there is no such name; i counts from 0, NULL after the last. */
const struct palette *palette_find(const char *name);
const char *palette_name(size_t i);

/* 0xRRGGBB; depends on the palette, the kind and the name alone. */
uint32_t palette_color(const struct palette *p, const char *name, size_t len,
		       enum flame_kind kind);

/* The color of a frame whose share of the whole has changed by so much, where
 * the largest change of a frame is `most`: red for more, blue for less, paler
 * the smaller it is, white for none. */
uint32_t palette_change(double change, double most);

#endif
