/*
 * doctor_findings.c - what of this machine is not as it should be, and what to do about each.
 *
 * Nothing here keeps cull from working: slower, without figures, or without a set that one may
 * want.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "doctor_parts.h"

enum { MOST_PATH = 1024 };

#define LITTLE_SPACE 1e9 /* bytes */
#define LITTLE_RAM   2e9

static void find(findings *f, const char *fix, const char *format, ...) CULL_PRINTF(3, 4);
static void find(findings *f, const char *fix, const char *format, ...)
{
    finding *to = &f->at[f->count];
    va_list  args;

    if (f->count == MOST_FINDINGS) return;
    va_start(args, format);
    (void)vsnprintf(to->what, sizeof to->what, format, args);
    va_end(args);
    (void)snprintf(to->fix, sizeof to->fix, "%s", fix);
    f->count++;
}

bool doctor_finds(const char *program)
{
    const char *path = getenv("PATH");
    char        file[MOST_PATH];

    for (; path && *path; path += path[strcspn(path, ":")] == ':') {
        size_t length = strcspn(path, ":");

        (void)snprintf(file, sizeof file, "%.*s/%s", (int)length, path, program);
        if (access(file, X_OK) == 0) return true;
        path += length;
    }
    return false;
}

void doctor_dnnl(char *out, size_t room)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char  line[MOST_PATH];

    out[0] = '\0';
    while (maps && !out[0] && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        if (path && strstr(path, "libdnnl")) (void)snprintf(out, room, "%s", path);
    }
    if (maps) (void)fclose(maps);
}

/* ---- processors ---- */

/* A group's quota in cores; infinity where there is none. */
static double quota(void)
{
    FILE  *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    char   line[64] = "", *rest = NULL;
    double share = INFINITY;

    if (file && fgets(line, sizeof line, file) && line[0] >= '0' && line[0] <= '9') {
        double of = strtod(line, &rest), period = strtod(rest, &rest);

        if (of > 0 && period > 0) share = of / period;
    }
    if (file) (void)fclose(file);
    return share;
}

double doctor_cores(void)
{
    cpu_set_t mine;
    double    online = (double)sysconf(_SC_NPROCESSORS_ONLN), own = online;

    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) own = CPU_COUNT(&mine);
    return fmin(fmin(own, online), quota());
}

static void look_at_processors(findings *f)
{
    double cores = doctor_cores(), online = (double)sysconf(_SC_NPROCESSORS_ONLN);
    char   fix[MOST_FINDING];

    if (cores >= online) return;
    (void)snprintf(fix, sizeof fix,
                   "Give train.threads=%.0f to cull train, and --jobs %.0f to cull compare.",
                   fmax(1, floor(cores)), fmax(1, floor(cores)));
    find(f, fix,
         "this process may use %.3g of the %.0f cores, and more threads than that wait for each "
         "other",
         cores, online);
}

/* Variables that make threads, or their instructions, other than cull would have them. */
static void look_at_variables(findings *f)
{
    static const struct {
        const char *name, *harmful, *what;
    } known[] = {
        {"OMP_WAIT_POLICY", "active", "threads that wait keep their core busy"},
        {"GOMP_SPINCOUNT", NULL, "threads that wait keep their core busy for as long"},
        {"OMP_PROC_BIND", NULL, "runs beside each other are bound to the same cores"},
        {"GOMP_CPU_AFFINITY", NULL, "runs beside each other are bound to the same cores"},
        {"OMP_THREAD_LIMIT", NULL, "there may be fewer threads than are asked for"},
        {"DNNL_MAX_CPU_ISA", NULL, "networks may not use all of the processor's instructions"},
        {"ONEDNN_MAX_CPU_ISA", NULL, "networks may not use all of the processor's instructions"},
        {"CULL_KERNELS", NULL, "selection may not use all of the processor's instructions"},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *value = getenv(known[i].name);
        char        fix[MOST_FINDING];

        if (!value || (known[i].harmful && strcmp(value, known[i].harmful) != 0)) continue;
        (void)snprintf(fix, sizeof fix, "unset %s", known[i].name);
        find(f, fix, "%s=%.40s: %s", known[i].name, value, known[i].what);
    }
}

/* ---- data ---- */

static void look_at_data(findings *f)
{
    static const char list[] = "cull data list says where each set is to be had, and which folder "
                               "it goes to.";
    const char       *root = getenv("CULL_DATA");
    cull_data_listing set = {0};
    struct stat       info = {0};
    size_t            whole = 0, below = 0;

    for (size_t i = 0; cull_data_list(NULL, i, &set); i++) {
        whole += set.train && set.test;
        below += root && root[0] && strncmp(set.folder, root, strlen(root)) == 0;
        if (set.train != set.test)
            find(f, set.get, "%s: %s has no %s files", set.name, set.folder,
                 set.train ? "test" : "training");
    }
    if (root && root[0] && (stat(root, &info) || !S_ISDIR(info.st_mode)))
        find(f, "export CULL_DATA=DIR, the folder that holds the sets' folders.",
             "CULL_DATA=%.200s is no folder", root);
    else if (root && root[0] && below == 0)
        find(f, list, "CULL_DATA=%.200s holds none of the sets that are known by name", root);
    else if (whole == 0)
        find(
            f,
            "apt-get install dataset-fashion-mnist, or export CULL_DATA=DIR, the folder that holds "
            "the sets' folders; cull data list says where each is to be had.",
            "no data set is found by name (files of your own are given by their path)");
}

/* ---- the rest ---- */

static void look_at_space(findings *f)
{
    struct statvfs disk = {0};
    double         ram = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double         free = 0;

    if (statvfs(".", &disk) == 0) free = (double)disk.f_bavail * (double)disk.f_frsize;
    if (free < LITTLE_SPACE)
        find(f, "Give --out a folder on a larger disk: every run keeps two checkpoints.",
             "%.0f MB are free in this folder", free / 1e6);
    if (access(".", W_OK) != 0)
        find(f, "Work in another folder, or give --out one that can be written.",
             "this folder cannot be written to");
    if (ram > 0 && ram < LITTLE_RAM)
        find(f, "Keep train.batch and train.evaluate_batch small, and --jobs 1.",
             "%.1f GB of memory are little", ram / 1e9);
}

void doctor_look(const doctor_devices *devices, findings *out)
{
    *out = (findings){0};
    if (devices->known && !devices->count)
        find(out, devices->fix, "there is a device, and it cannot be used: %.240s", devices->why);
    if (!doctor_finds("gnuplot"))
        find(out, "apt-get install gnuplot-nox",
             "gnuplot is not found, so that pages have no figures");
    look_at_data(out);
    look_at_processors(out);
    look_at_variables(out);
    look_at_space(out);
}
