/* find_recipe.c - recipes by name: here, and where they were installed with the program. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train/run_parts.h"

enum { MOST_RECIPES = 256, MOST_PATH = 1024 };

#define HERE "recipes/"

/* Seen from the program's folder: where they were installed; in a build's folder, those of the tree
 * around it. */
static const char *const folders[] = {CULL_INSTALLED_RECIPES, CULL_TREE_RECIPES};

/* No part of the program's own path is a link, so that ".." may be taken by its word. */
static bool is_folder(const char *own, const char *path, char *out, size_t room)
{
    size_t      length = strlen(own);
    struct stat info = {0};

    for (; strncmp(path, "../", 3) == 0 && length > 0; path += 3)
        while (length > 0 && own[--length] != '/') continue;
    return snprintf(out, room, "%.*s/%s", (int)length, own, path) < (int)room &&
           stat(out, &info) == 0 && S_ISDIR(info.st_mode);
}

bool recipe_folder(char *out, size_t room)
{
    char    own[MOST_PATH] = "", *slash = NULL;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

    slash = length > 0 ? strrchr(own, '/') : NULL;
    if (!slash) return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (is_folder(own, folders[i], out, room)) return true;
    return false;
}

static bool is_file(const char *path)
{
    struct stat info = {0};

    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* The name as it is, or with its ending. */
static bool is_recipe(const char *folder, const char *name, char *out, size_t room)
{
    static const char *const endings[] = {"", ".yaml"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (snprintf(out, room, "%s%s%s", folder, name, endings[i]) < (int)room && is_file(out))
            return true;
    return false;
}

const char *find_recipe(const char *path, char *room, size_t bytes)
{
    struct stat info = {0};
    char        folder[MOST_PATH], in[MOST_PATH + 1];
    const char *name = strncmp(path, HERE, strlen(HERE)) == 0 ? path + strlen(HERE) : path;

    if (stat(path, &info) == 0 || path[0] == '/' || strstr(path, "..")) return path;
    if (is_recipe("", path, room, bytes)) return room;
    if (!recipe_folder(folder, sizeof folder)) return path;
    (void)snprintf(in, sizeof in, "%s/", folder);
    if (!is_recipe(in, name, room, bytes)) return path;
    (void)fprintf(stderr, "cull: %s is not here; taking the recipe %s\n", path, room);
    return room;
}

/* ---- the list ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Up to the end of the sentence, or of what stands before a colon: no point of a file's name. */
static size_t first_words(const char *text)
{
    size_t length = strcspn(text, ".:\n");

    while (text[length] == '.' && text[length + 1] && !strchr(" \n", text[length + 1]))
        length += 1 + strcspn(text + length + 1, ".:\n");
    return length;
}

/* What a recipe says of itself in its first line. */
static void print_first_line(const char *folder, const char *name)
{
    char        path[2 * MOST_PATH], line[100] = "";
    const char *text = line;
    FILE       *file = NULL;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "r");
    if (file && !fgets(line, sizeof line, file)) line[0] = '\0';
    if (file) (void)fclose(file);
    if (line[0] != '#') text = "";
    text += strspn(text, "# ");
    (void)fprintf(stderr, "  %-28s %.*s\n", name, (int)first_words(text), text);
}

static size_t read_names(const char *folder, char *names[MOST_RECIPES])
{
    DIR                 *all = opendir(folder);
    const struct dirent *entry = NULL;
    size_t               count = 0;

    while (all && count < MOST_RECIPES && (entry = readdir(all))) {
        const char *dot = strrchr(entry->d_name, '.');

        if (!dot || strcmp(dot, ".yaml") != 0) continue;
        names[count] = strdup(entry->d_name);
        count += names[count] != NULL;
    }
    if (all) (void)closedir(all);
    if (count) qsort((void *)names, count, sizeof *names, by_name);
    return count;
}

void each_recipe(void *context, void (*take)(void *context, const char *folder, const char *name))
{
    char   folder[MOST_PATH];
    char  *names[MOST_RECIPES] = {0};
    size_t count = recipe_folder(folder, sizeof folder) ? read_names(folder, names) : 0;

    for (size_t i = 0; i < count; i++) {
        take(context, folder, names[i]);
        free(names[i]);
    }
}

static void print_name(void *context, const char *folder, const char *name)
{
    bool *begun = context;

    if (!*begun) (void)fprintf(stderr, "These are known by name, and lie in %s:\n", folder);
    *begun = true;
    print_first_line(folder, name);
}

void print_recipes(void)
{
    bool begun = false;

    each_recipe(&begun, print_name);
}
