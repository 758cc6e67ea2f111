/* svg_script - the program inside a flame graph: search, zoom, details. */
#ifndef RENDER_SVG_SCRIPT_H
#define RENDER_SVG_SCRIPT_H

/* JavaScript, free of "]]>"; expects `graph`, an object of the picture's
 * measures, which svg.c writes before it. */
extern const char svg_script[];

#endif
