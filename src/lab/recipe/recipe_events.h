/*
 * lab/recipe/recipe_events.h - a recipe's YAML, event by event.
 *
 * Anchors, aliases, tags and texts that are no YAML are refused here, so that readers meet only
 * mappings, lists and values.
 */
#ifndef CULL_LAB_RECIPE_EVENTS_H
#define CULL_LAB_RECIPE_EVENTS_H

#include <yaml.h>

#include "lab/recipe/recipe.h"

enum { CULL_RECIPE_WHERE = 256 };

struct cull_recipe_events {
    const char   *name;  /* begins the sentences                 */
    bool          lines; /* and the number of a line follows it  */
    yaml_parser_t parser;
    yaml_event_t  event; /* the latest                           */
    bool          held;  /* it is to be deleted                  */
};

/* Both are borrowed. Ended with cull_recipe_events_close(), also where opening failed. */
cull_status cull_recipe_events_open(const char *name, bool lines, const void *yaml, size_t bytes,
                                    cull_recipe_events *out);
void        cull_recipe_events_close(cull_recipe_events *events);

/* The next event. */
cull_status cull_recipe_events_next(cull_recipe_events *events);

/* Of the latest event, from 1; and "recipe.yaml:7", or the name alone. */
unsigned long cull_recipe_events_line(const cull_recipe_events *events);
void          cull_recipe_events_where(const cull_recipe_events *events, unsigned long line,
                                       char out[CULL_RECIPE_WHERE]);

/* Is the latest event a value without quotes that says nothing: none, ~ or null? */
bool cull_recipe_events_nothing(const cull_recipe_events *events);

#endif
