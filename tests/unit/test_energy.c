/* test_energy.c - joules of packages and GPUs, and how they are shared out among phases. */
#include "support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "files.h"
#include "train/meter/meter.h"

#define FAKE CULL_BINARY_DIR "/tests/plugin_nvml.so"
#define BUS  "0000:0a:00.0"

struct fake {
    char                folder[64];
    void               *library;
    unsigned long long *drawn;
    int                *fault, *open;
};

static int begin(void **state)
{
    struct fake *f = calloc(1, sizeof *f);

    assert_non_null(f);
    strcpy(f->folder, FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(f->folder));
    f->library = dlopen(FAKE, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(f->library);
    f->drawn = dlsym(f->library, "fake_drawn");
    f->fault = dlsym(f->library, "fake_fault");
    f->open = dlsym(f->library, "fake_open");
    *f->drawn = 5000;
    *f->fault = 0;
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fake *f = *state;

    assert_int_equal(0, *f->open); /* every opened one was closed */
    (void)dlclose(f->library);
    remove_folder(f->folder);
    free(f);
    return 0;
}

static void set_counter(const struct fake *f, size_t package, const char *name, const char *text)
{
    char path[200];

    (void)snprintf(path, sizeof path, "%s/intel-rapl:%zu", f->folder, package);
    if (mkdir(path, 0777)) assert_int_equal(EEXIST, errno);
    (void)snprintf(path, sizeof path, "%s/intel-rapl:%zu/%s", f->folder, package, name);
    put_file(path, text, strlen(text));
}

static void assert_close(double wanted, double got)
{
    if (!(fabs(wanted - got) < 1e-9)) fail_msg("%.12g instead of %.12g", got, wanted);
}

static void energy_is_the_sum_of_packages_and_survives_their_range(void **state)
{
    const struct fake *f = *state;
    cull_energy        energy;
    cull_meter         meter = {.energy = &energy};

    set_counter(f, 0, "energy_uj", "9000000\n");
    set_counter(f, 0, "max_energy_range_uj", "10000000\n");
    set_counter(f, 1, "energy_uj", "5\n");
    set_counter(f, 1, "max_energy_range_uj", "10000000\n");
    cull_energy_open(f->folder, FAKE, NULL, &energy);
    assert_int_equal(2, energy.count);
    assert_string_equal("", energy.why);
    energy.tick = 0;
    cull_meter_start(&meter);
    set_counter(f, 0, "energy_uj", "9500000\n");
    set_counter(f, 1, "energy_uj", "250005\n");
    cull_meter_lap(&meter, CULL_PHASE_LEARN);
    set_counter(f, 0, "energy_uj", "500000\n"); /* went past its range */
    cull_meter_lap(&meter, CULL_PHASE_SCORE);
    assert_close(.75, meter.joules[CULL_PHASE_LEARN]);
    assert_close(1, meter.joules[CULL_PHASE_SCORE]);
    cull_energy_close(&energy);
}

static void a_gpu_counts_beside_the_packages(void **state)
{
    const struct fake *f = *state;
    cull_energy        energy;

    set_counter(f, 0, "energy_uj", "1000000\n");
    cull_energy_open(f->folder, FAKE, BUS, &energy);
    assert_int_equal(2, energy.count);
    *f->drawn += 1500;
    set_counter(f, 0, "energy_uj", "1250000\n");
    assert_close(1.75, cull_energy_lap(&energy));
    *f->fault = 2; /* does not answer: nothing is made up, and nothing is lost */
    *f->drawn += 300;
    assert_close(0, cull_energy_lap(&energy));
    *f->fault = 0;
    assert_close(.3, cull_energy_lap(&energy));
    cull_energy_close(&energy);
}

static void what_is_not_counted_is_said(void **state)
{
    const struct fake *f = *state;
    static const struct {
        const char *library, *bus, *why;
        int         fault;
    } cases[] = {
        {FAKE, NULL, "no RAPL counter below ", 0},
        {"libnothing-of-the-kind.so", BUS, "libnothing-of-the-kind.so is not installed", 0},
        {CULL_BINARY_DIR "/tests/plugin_empty.so", BUS, "NVML has no nvmlInit_v2", 0},
        {FAKE, BUS, "NVML does not start", 1},
        {FAKE, "0000:0b:00.0", "NVML knows no GPU at 0000:0b:00.0", 0},
        {FAKE, BUS, "the GPU at " BUS " does not count its energy", 2}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_energy energy;

        *f->fault = cases[i].fault;
        cull_energy_open(f->folder, cases[i].library, cases[i].bus, &energy);
        assert_int_equal(0, energy.count);
        assert_non_null(strstr(energy.why, cases[i].why));
        assert_close(0, cull_energy_lap(&energy));
        cull_energy_close(&energy);
    }
    set_counter(f, 0, "energy_uj", "no number\n");
    {
        cull_energy energy;
        cull_energy_open(f->folder, FAKE, NULL, &energy);
        assert_int_equal(0, energy.count);
        assert_non_null(strstr(energy.why, "intel-rapl:0/energy_uj: "));
        cull_energy_close(&energy);
    }
}

static void wait_for(double seconds)
{
    struct timespec span = {0, (long)(seconds * 1e9)};

    (void)nanosleep(&span, NULL);
}

/* Counters that move in ticks: phases shorter than one get what their time was worth. */
static void what_passed_between_two_readings_is_shared_out_by_time(void **state)
{
    const struct fake *f = *state;
    cull_energy        energy;
    cull_meter         meter = {.energy = &energy};
    double             score = 0, learn = 0, want = 0;

    cull_energy_open(f->folder, FAKE, BUS, &energy);
    energy.tick = 3600;
    cull_meter_start(&meter);
    wait_for(.003);
    cull_meter_lap(&meter, CULL_PHASE_SCORE);
    *f->drawn += 10000; /* the tick falls into learning */
    wait_for(.009);
    cull_meter_lap(&meter, CULL_PHASE_LEARN);
    assert_close(0, meter.joules[CULL_PHASE_LEARN]);
    want = meter.unread[CULL_PHASE_SCORE] / meter.unread[CULL_PHASE_LEARN];
    cull_meter_settle(&meter); /* reads, however soon */
    score = meter.joules[CULL_PHASE_SCORE];
    learn = meter.joules[CULL_PHASE_LEARN];
    assert_close(10, score + learn);
    assert_true(want > 0 && want < 1 && fabs(score / learn - want) < 1e-9);
    *f->drawn += 7000; /* and a reading begins anew */
    cull_meter_lap(&meter, CULL_PHASE_EVALUATE);
    cull_meter_settle(&meter);
    assert_close(7, meter.joules[CULL_PHASE_EVALUATE]);
    assert_close(score, meter.joules[CULL_PHASE_SCORE]);
    cull_energy_close(&energy);
}

/* The PCI address of a GPU of this machine, or "". */
static void find_gpu(char *bus, size_t size)
{
    DIR           *folder = opendir("/sys/bus/pci/devices");
    struct dirent *entry = NULL;

    bus[0] = '\0';
    while (folder && !bus[0] && (entry = readdir(folder))) {
        char  path[512], vendor[16] = "", kind[16] = "";
        FILE *file = NULL;

        (void)snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/vendor", entry->d_name);
        file = fopen(path, "r");
        if (file && !fgets(vendor, sizeof vendor, file)) vendor[0] = '\0';
        if (file) (void)fclose(file);
        (void)snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/class", entry->d_name);
        file = fopen(path, "r");
        if (file && !fgets(kind, sizeof kind, file)) kind[0] = '\0';
        if (file) (void)fclose(file);
        if (!strncmp(vendor, "0x10de", 6) && !strncmp(kind, "0x03", 4))
            (void)snprintf(bus, size, "%s", entry->d_name);
    }
    if (folder) (void)closedir(folder);
}

static void a_gpu_of_this_machine_draws_power_all_the_time(void **state)
{
    const struct fake *f = *state;
    cull_energy        energy;
    void              *driver = NULL;
    char               bus[300];
    double             watts = 0;

    find_gpu(bus, sizeof bus);
    driver = bus[0] ? dlopen(CULL_ENERGY_NVML, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!driver) skip();
    cull_energy_open(f->folder, CULL_ENERGY_NVML, bus, &energy);
    if (energy.count != 1) fail_msg("%s", energy.why);
    wait_for(.9);
    watts = cull_energy_lap(&energy) / .9;
    print_message("%s: %.0f W\n", bus, watts);
    assert_true(watts > 5 && watts < 2000);
    cull_energy_close(&energy);
    (void)dlclose(driver);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(energy_is_the_sum_of_packages_and_survives_their_range),
        CASE(a_gpu_counts_beside_the_packages),
        CASE(what_is_not_counted_is_said),
        CASE(what_passed_between_two_readings_is_shared_out_by_time),
        CASE(a_gpu_of_this_machine_draws_power_all_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
