/* cmd_doctor.c - cull doctor: what this build and machine are, and whether they work. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "doctor_parts.h"
#include "flags.h"

enum { MOST_PATH = 1024, MOST_TESTS = 8 };

#ifdef CULL_WITHOUT_DNNL
#define NO_DNNL "none: networks on the processor are plain loops (-DCULL_DNNL=OFF)"
#else
#define NO_DNNL "linked into the program"
#endif
#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

static double memory_gib(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && bytes > 0 ? (double)pages * (double)bytes / 1073741824.0 : NAN;
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

static json_t *findings_json(const findings *f)
{
    json_t *all = json_array();

    for (size_t i = 0; i < f->count; i++)
        (void)json_array_append_new(
            all, json_pack("{s:s, s:s}", "what", f->at[i].what, "fix", f->at[i].fix));
    return all;
}

static int print_all_json(const char *device, const char *dnnl, const char *data,
                          const bool *passed, const doctor_devices *devices, const findings *f)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:s, s:s, s:b, s:s, s:o, s:o, s:o, s:s}",
                          "version", cull_version(), "compiler", COMPILER, "backend", device,
                          "onednn", dnnl, "cores", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN),
                          "usable", json_number(doctor_cores()), "zlib", zlibVersion(), "jansson",
                          jansson_version_str(), "gnuplot", doctor_finds("gnuplot"), "data", data,
                          "memory_gib", json_number(memory_gib()), "findings", findings_json(f),
                          "devices", doctor_devices_json(devices), "no_device", devices->why);

    for (size_t i = 0; o && doctor_test_at(i); i++)
        (void)json_object_set_new(o, doctor_test_at(i)->name, json_boolean(passed[i]));
    return print_json(o);
}

static int print_all(const char *device, const char *dnnl, const char *data, const bool *passed,
                     const doctor_devices *devices, const findings *f)
{
    (void)printf("cull      %s\ncompiler  %s\nbackend   %s\noneDNN    %s\ncores     %ld\n"
                 "memory    %.1f GiB\nzlib      %s\njansson   %s\ngnuplot   %s\ndata      %s\n",
                 cull_version(), COMPILER, device, dnnl[0] ? dnnl : NO_DNNL,
                 sysconf(_SC_NPROCESSORS_ONLN), memory_gib(), zlibVersion(), jansson_version_str(),
                 doctor_finds("gnuplot") ? "found" : "not found", data[0] ? data : "none found");
    doctor_devices_print(devices);
    for (size_t i = 0; doctor_test_at(i); i++)
        (void)printf("%-9s %s\n", doctor_test_at(i)->name, passed[i] ? "ok" : "WRONG");
    if (f->count == 0) (void)printf("\nAll is as it should be.\n");
    if (f->count) (void)printf("\nnot as it should be, and what to do:\n");
    for (size_t i = 0; i < f->count; i++)
        (void)printf("  %s\n      %s\n", f->at[i].what, f->at[i].fix);
    return end_output(END_WELL);
}

static int report(cull_backend *backend, bool json)
{
    const char *device = cull_backend_describe(backend);
    char        data[MOST_PATH], dnnl[MOST_PATH];
    bool        passed[MOST_TESTS] = {0};
    int         end = END_WELL;

    static doctor_devices devices;
    static findings       found;

    list_data(data, sizeof data);
    doctor_dnnl(dnnl, sizeof dnnl);
    doctor_devices_find(&devices);
    doctor_look(&devices, &found);
    for (size_t i = 0; doctor_test_at(i); i++) passed[i] = doctor_test_at(i)->passes(backend);
    end = json ? print_all_json(device, dnnl, data, passed, &devices, &found)
               : print_all(device, dnnl, data, passed, &devices, &found);
    for (size_t i = 0; !end && doctor_test_at(i); i++)
        if (!passed[i])
            end = complain(END_FAILED,
                           "Rebuild from a clean tree; if it stays wrong, report this text.",
                           "the self-test failed: %s", doctor_test_at(i)->name);
    return end;
}

static const command self = {
    .name = "doctor",
    .usage =
        "usage: cull doctor [--json]\n\n"
        "Prints versions, compiler, backend, cores and memory, which data sets are found, and\n"
        "the devices that there are, or why there is none;\n"
        "solves small problems whose answers are known, and says of everything that is not\n"
        "as it should be (programs and sets that are missing, cores that may not be used,\n"
        "variables that slow threads down, little space) what to do about it. Exit status 1\n"
        "when an answer is wrong.\n\n",
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
