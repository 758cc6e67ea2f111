/* palette - which color a frame has: by kind a tone, by name a shade of it. */
#include "render/palette.h"

#include <string.h>

enum tone {
	RED, ORANGE, FIRE, YELLOW, GREEN, AQUA, BLUE, PURPLE, MEMORY, DISK,
	GREY, PALE,
};

/* Each channel is base + 0..span, by a hash of the name. Black text stands on
 * every shade. */
static const struct {
	uint8_t base[3], span[3];
} tones[] = {
	[RED]	 = { { 222,  92,  84 }, { 28, 44, 44 } },
	[ORANGE] = { { 226, 126,  36 }, { 26, 48, 30 } },
	[FIRE]	 = { { 228,  98,  46 }, { 26, 122, 36 } },
	[YELLOW] = { { 214, 186,  50 }, { 32, 34, 40 } },
	[GREEN]	 = { {  96, 186,  90 }, { 56, 34, 50 } },
	[AQUA]	 = { {  84, 184, 180 }, { 50, 34, 34 } },
	[BLUE]	 = { {  98, 150, 214 }, { 48, 42, 32 } },
	[PURPLE] = { { 174, 122, 208 }, { 42, 42, 36 } },
	[MEMORY] = { {  86, 190,  96 }, { 30, 42, 110 } },
	[DISK]	 = { { 118, 128, 208 }, { 52, 52, 40 } },
	[GREY]	 = { { 184, 184, 184 }, { 18, 18, 18 } },
	[PALE]	 = { { 224, 224, 224 }, { 0, 0, 0 } },
};

/* By kind: user, kernel, JIT, unknown, inlined, waker, delimiter. */
struct palette {
	const char *name;
	uint8_t tones[FLAME_KINDS];
};

#define ALL_OF(name, t) { name, { t, t, t, GREY, t, t, PALE } }

static const struct palette palettes[] = {
	{ "hot",    { FIRE, BLUE, GREEN, GREY, AQUA, PURPLE, PALE } },
	{ "java",   { RED, ORANGE, GREEN, GREY, AQUA, PURPLE, PALE } },
	{ "chain",  { BLUE, BLUE, BLUE, GREY, BLUE, AQUA, PALE } },
	{ "offcpu", { DISK, BLUE, PURPLE, GREY, DISK, AQUA, PALE } },
	ALL_OF("wakeup", AQUA),
	ALL_OF("mem", MEMORY),
	ALL_OF("io", DISK),
	ALL_OF("red", RED),
	ALL_OF("orange", ORANGE),
	ALL_OF("yellow", YELLOW),
	ALL_OF("green", GREEN),
	ALL_OF("aqua", AQUA),
	ALL_OF("blue", BLUE),
	ALL_OF("purple", PURPLE),
};

static const size_t npalettes = sizeof(palettes) / sizeof(*palettes);

const struct palette *palette_find(const char *name)
{
	for (size_t i = 0; i < npalettes; i++)
		if (!strcmp(palettes[i].name, name))
			return &palettes[i];
	return NULL;
}

const char *palette_name(size_t i)
{
	return i < npalettes ? palettes[i].name : NULL;
}

/* FNV-1a (the public domain hash of Fowler, Noll and Vo), its bits mixed once
 * more: names that differ in one character only shall differ in color. */
static uint32_t name_hash(const char *name, size_t len)
{
	uint32_t h = 2166136261u;

	while (len--)
		h = (h ^ (unsigned char)*name++) * 16777619u;
	h = (h ^ h >> 15) * 0x2c1b3c6du;
	return h ^ h >> 13;
}

/* In java's colors a C++ name is told from a C name. */
static enum tone tone_of(const struct palette *p, const char *name, size_t len,
			 enum flame_kind kind)
{
	enum tone tone = p->tones[kind];

	if (kind == FLAME_USER && tone == RED && p->tones[FLAME_JIT] == GREEN &&
	    memmem(name, len, "::", 2))
		return YELLOW;
	return tone;
}

uint32_t palette_color(const struct palette *p, const char *name, size_t len,
		       enum flame_kind kind)
{
	enum tone tone = tone_of(p, name, len, kind);
	uint32_t h = name_hash(name, len), color = 0;

	for (int i = 0; i < 3; i++) {
		uint32_t shade = h >> (8 * i) & 255;

		color = color << 8 | (tones[tone].base[i] +
				      tones[tone].span[i] * shade / 255);
	}
	return color;
}

uint32_t palette_change(double change, double most)
{
	static const uint8_t full[2][3] = { { 232, 62, 50 }, { 70, 120, 232 } };
	const uint8_t *to = full[change < 0];
	double part = most > 0 ? (change < 0 ? -change : change) / most : 0;
	uint32_t color = 0;

	if (part > 1)
		part = 1;
	for (int i = 0; i < 3; i++)
		color = color << 8 | (uint32_t)(246 - part * (246 - to[i]));
	return color;
}
