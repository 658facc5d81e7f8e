/* lab/recipe/recipe_events.c - libyaml's events, less those that recipes have no use for. */
#include "lab/recipe/recipe_events.h"

#include <stdio.h>
#include <string.h>

cull_status cull_recipe_events_open(const char *name, bool lines, const void *yaml, size_t bytes,
                                    cull_recipe_events *out)
{
    *out = (cull_recipe_events){.name = name, .lines = lines};
    if (!yaml_parser_initialize(&out->parser)) {
        out->name = NULL; /* nothing to delete */
        return cull_fail(CULL_NO_MEMORY, "no memory for a recipe");
    }
    yaml_parser_set_input_string(&out->parser, yaml, bytes);
    return CULL_OK;
}

void cull_recipe_events_close(cull_recipe_events *events)
{
    if (events->held) yaml_event_delete(&events->event);
    if (events->name) yaml_parser_delete(&events->parser);
    *events = (cull_recipe_events){0};
}

unsigned long cull_recipe_events_line(const cull_recipe_events *events)
{
    return (unsigned long)events->event.start_mark.line + 1;
}

void cull_recipe_events_where(const cull_recipe_events *events, unsigned long line,
                              char out[CULL_RECIPE_WHERE])
{
    if (events->lines)
        (void)snprintf(out, CULL_RECIPE_WHERE, "%.200s:%lu", events->name, line);
    else
        (void)snprintf(out, CULL_RECIPE_WHERE, "%.200s", events->name);
}

bool cull_recipe_events_nothing(const cull_recipe_events *events)
{
    const yaml_event_t *e = &events->event;
    const char         *value = (const char *)e->data.scalar.value;

    return e->type == YAML_SCALAR_EVENT && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (e->data.scalar.length == 0 || strcmp(value, "~") == 0 || strcmp(value, "null") == 0);
}

static bool has_anchor_or_tag(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT: return e->data.scalar.anchor || e->data.scalar.tag;
    case YAML_MAPPING_START_EVENT: return e->data.mapping_start.anchor || e->data.mapping_start.tag;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor || e->data.sequence_start.tag;
    default: return false;
    }
}

cull_status cull_recipe_events_next(cull_recipe_events *events)
{
    cull_status          status = CULL_OK;
    const yaml_parser_t *parser = &events->parser;
    char                 where[CULL_RECIPE_WHERE];

    if (events->held) yaml_event_delete(&events->event);
    events->held = false;
    if (!yaml_parser_parse(&events->parser, &events->event)) {
        if (parser->error == YAML_MEMORY_ERROR) FAIL(CULL_NO_MEMORY, "no memory for a recipe");
        cull_recipe_events_where(events, (unsigned long)parser->problem_mark.line + 1, where);
        FAIL(CULL_BAD_OPTION, "%s: not YAML: %s", where,
             parser->problem ? parser->problem : "unreadable");
    }
    events->held = true;
    cull_recipe_events_where(events, cull_recipe_events_line(events), where);
    if (events->event.type == YAML_ALIAS_EVENT)
        FAIL(CULL_BAD_OPTION, "%s: aliases are not for recipes", where);
    if (has_anchor_or_tag(&events->event))
        FAIL(CULL_BAD_OPTION, "%s: anchors and tags are not for recipes", where);
done:
    return status;
}
