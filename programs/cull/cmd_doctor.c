/* cmd_doctor.c - cull doctor: what this build and machine are, and whether they work. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "flags.h"

enum { SAMPLE = 8, MOST_PATH = 1024 };

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

/* The target is 3 times atom 2 plus 1 times atom 0 of three: pursuit must find exactly that. */
static bool pursuit_works(cull_backend *backend)
{
    static const double k[9] = {2, 0, 0, 0, 1, 0, 0, 0, 4}, t[3] = {2, 0, 12};
    uint32_t            index[2] = {0};
    double              weight[2] = {0};
    cull_omp_problem    problem = {.count = 3,
                                   .budget = 2,
                                   .k = cull_matrix(k, CULL_F64, 3, 3),
                                   .t = t,
                                   .b2 = 38,
                                   .index = index,
                                   .weight = weight};
    cull_omp_options    options = {.tolerance = 1e-6};

    if (cull_omp(backend, &problem, 1, &options) != CULL_OK || problem.picked != 2) return false;
    return index[0] == 2 && index[1] == 0 && fabs(weight[0] - 3) < 1e-12 &&
           fabs(weight[1] - 1) < 1e-12;
}

/* Half of eight by Selective-Backprop: four different rows, ascending, and the same twice. */
static bool draw_works(cull_backend *backend)
{
    static const float loss[SAMPLE] = {.1f, .9f, .4f, .7f, .2f, .8f, .3f, .6f};
    cull_option        option = {"keep", "0.5"};
    cull_setting       setting = {.pool = SAMPLE, .seed = 1, .backend = backend};
    cull_signals       signals = {.count = SAMPLE, .loss = cull_vector(loss, CULL_F32, SAMPLE)};
    uint32_t           first[SAMPLE] = {0};
    bool               good = true;

    for (int round = 0; round < 2 && good; round++) {
        cull_selector *selector = NULL;
        cull_subset    subset = {0};
        good = cull_selector_create("sb", &option, 1, &setting, &selector) == CULL_OK &&
               cull_select(selector, &signals, 0, &subset) == CULL_OK && subset.count == SAMPLE / 2;
        for (size_t i = 0; good && i < subset.count; i++) {
            if (i > 0) good = subset.index[i] > subset.index[i - 1];
            if (round == 1) good = good && subset.index[i] == first[i];
            first[i] = subset.index[i];
        }
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
    return good;
}

static double memory_gib(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && bytes > 0 ? (double)pages * (double)bytes / 1073741824.0 : NAN;
}

/* Figures of a page are drawn by a program of its own. */
static bool finds_gnuplot(void)
{
    const char *path = getenv("PATH");
    char        file[MOST_PATH];

    for (; path && *path; path += path[strcspn(path, ":")] == ':') {
        size_t length = strcspn(path, ":");

        (void)snprintf(file, sizeof file, "%.*s/gnuplot", (int)length, path);
        if (access(file, X_OK) == 0) return true;
        path += length;
    }
    return false;
}

/* The sets whose files are where they are looked for. */
static void list_data(char *out, size_t room)
{
    cull_data_listing listing = {0};
    size_t            at = 0;

    out[0] = '\0';
    for (size_t i = 0; at < room && cull_data_list(NULL, i, &listing); i++)
        if (listing.train && listing.test)
            at += (size_t)snprintf(out + at, room - at, "%s%s", at ? ", " : "", listing.name);
}

static int report(cull_backend *backend, bool json)
{
    bool        pursuit = pursuit_works(backend), draw = draw_works(backend);
    long        cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool        gnuplot = finds_gnuplot();
    const char *device = cull_backend_describe(backend);
    char        data[MOST_PATH];
    int         end = END_WELL;

    list_data(data, sizeof data);
    if (json) {
        end = print_json(json_pack(
            "{s:s, s:s, s:s, s:I, s:s, s:s, s:b, s:s, s:b, s:b, s:o}", "version", cull_version(),
            "compiler", COMPILER, "backend", device, "cores", (json_int_t)cores, "zlib",
            zlibVersion(), "jansson", jansson_version_str(), "gnuplot", gnuplot, "data", data,
            "pursuit", pursuit, "draw", draw, "memory_gib", json_number(memory_gib())));
    } else {
        (void)printf("cull      %s\ncompiler  %s\nbackend   %s\ncores     %ld\n"
                     "memory    %.1f GiB\nzlib      %s\njansson   %s\n"
                     "gnuplot   %s\ndata      %s\npursuit   %s\ndraw      %s\n",
                     cull_version(), COMPILER, device, cores, memory_gib(), zlibVersion(),
                     jansson_version_str(), gnuplot ? "found" : "not found: pages have no figures",
                     data[0] ? data : "none found: CULL_DATA names the folder of the sets",
                     pursuit ? "ok" : "WRONG", draw ? "ok" : "WRONG");
        end = end_output(END_WELL);
    }
    if (end || (pursuit && draw)) return end;
    return complain(END_FAILED, "Rebuild from a clean tree; if it stays wrong, report this text.",
                    "the self-test failed: %s", pursuit ? "draw" : "pursuit");
}

static const command self = {
    .name = "doctor",
    .usage = "usage: cull doctor [--json]\n\n"
             "Prints versions, compiler, backend, cores and memory, whether gnuplot is there to\n"
             "draw figures and which data sets are found, and solves two small problems\n"
             "whose answers are known. Exit status 1 when one is wrong.\n\n",
};

int cmd_doctor(int argc, char **argv)
{
    bool json = false;
    flag flags[] = {{"--json", FLAG_SWITCH, NULL, "as one JSON object", &json, 0}, {.name = NULL}};
    size_t        count = 0;
    cull_backend *backend = NULL;
    int           end = take_line(&self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    if (count)
        return complain(END_USAGE, "See cull doctor --help.", "'%s' is not understood", argv[0]);
    end = complain_status(cull_backend_open("cpu", 0, &backend));
    if (!end) end = report(backend, json);
    cull_backend_close(backend);
    return end;
}
