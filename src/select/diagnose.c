/*
 * select/diagnose.c - how good a subset is.
 *
 *     error      |sum e_i g_i|^2,  e_i = w_i / m - 1 / M     g_i = p_i (x) [h_i; 1]
 *     cosine     between gbar and gbar + sum e_i g_i,  gbar = (1/M) sum g_i
 *     effective  (sum w)^2 / sum w^2
 *     overlap    shared places / places of the smaller subset
 *
 * The difference is summed as such, so that no two large sums cancel: keeping all is an error
 * of exactly zero. Rows are weighted in blocks; two (C, D+1) sums are all that is kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "select/select.h"

enum { BLOCK = 1024, MOST_CLASSES = 1 << 24 };

void cull_diagnosis_clear(cull_diagnosis *diagnosis)
{
    cull_diagnosis held;

    if (!diagnosis || cull_sized_read("cull_diagnosis", diagnosis, sizeof held, &held) != CULL_OK)
        return;
    cull_base_free(held.available);
    cull_base_free(held.chosen);
    cull_sized_clear(diagnosis, sizeof held);
}

static cull_status check_subset(const cull_subset *subset, const cull_signals *signals)
{
    cull_status status = CULL_OK;

    TRY(cull_device_check(subset->device, (cull_device){0}, "the subset"));
    if (subset->count && (!subset->index || !subset->place || !subset->weight))
        FAIL(CULL_BAD_ARGUMENT, "diagnose: the subset has no arrays");
    for (size_t i = 0; i < subset->count; i++) {
        if (subset->index[i] == CULL_NO_ROW)
            FAIL(CULL_BAD_ARGUMENT, "diagnose: place %u was carried over from earlier signals",
                 subset->place[i]);
        if (subset->index[i] >= signals->count)
            FAIL(CULL_BAD_ARGUMENT, "diagnose: the subset has row %u, the signals have %zu",
                 subset->index[i], signals->count);
        if (subset->place[i] != cull_sel_place(signals, subset->index[i]))
            FAIL(CULL_BAD_ARGUMENT, "diagnose: row %u is place %u in the subset, %u in the signals",
                 subset->index[i], subset->place[i], cull_sel_place(signals, subset->index[i]));
        if (!isfinite(subset->weight[i]) || subset->weight[i] < 0)
            FAIL(CULL_BAD_ARGUMENT, "diagnose: row %u has the weight %g", subset->index[i],
                 subset->weight[i]);
    }
done:
    return status;
}

/* Weights relative to the largest, so that squares neither overflow nor vanish. */
static double effective_size(const cull_subset *subset)
{
    double largest = 0, sum = 0, squares = 0;

    for (size_t i = 0; i < subset->count; i++) largest = fmax(largest, subset->weight[i]);
    for (size_t i = 0; largest > 0 && i < subset->count; i++) {
        double weight = subset->weight[i] / largest;
        sum += weight;
        squares += weight * weight;
    }
    return largest > 0 ? sum * sum / squares : 0;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Ascending, each place once; returns how many. */
static size_t distinct(uint32_t *x, size_t count)
{
    size_t kept = 0;

    qsort(x, count, sizeof *x, by_number);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || x[i] != x[kept - 1]) x[kept++] = x[i];
    return kept;
}

static cull_status overlap(const cull_subset *one, const cull_subset *two, double *out)
{
    cull_status status = CULL_OK;
    uint32_t   *a = NULL, *b = NULL;
    size_t      na = one->count, nb = two->count, i = 0, j = 0, shared = 0;

    if (na == 0 || nb == 0) return CULL_OK;
    TRY(cull_device_check(two->device, (cull_device){0}, "the other subset"));
    if (!two->place) FAIL(CULL_BAD_ARGUMENT, "diagnose: the other subset has no places");
    TRY(cull_base_alloc(na, sizeof *a, "places", &a));
    TRY(cull_base_alloc(nb, sizeof *b, "places", &b));
    memcpy(a, one->place, na * sizeof *a);
    memcpy(b, two->place, nb * sizeof *b);
    na = distinct(a, na);
    nb = distinct(b, nb);
    while (i < na && j < nb) {
        uint32_t least = a[i] < b[j] ? a[i] : b[j];

        shared += a[i] == b[j];
        i += a[i] == least;
        j += b[j] == least;
    }
    *out = (double)shared / (double)(na < nb ? na : nb);
done:
    cull_base_free(a);
    cull_base_free(b);
    return status;
}

/* Class c of every example, counted among all and among the chosen. */
static cull_status composition(const cull_signals *signals, const cull_subset *subset,
                               cull_diagnosis *out)
{
    cull_status status = CULL_OK;
    size_t      classes = 0;

    if (cull_tensor_present(&signals->p)) classes = (size_t)signals->p.shape[1];
    for (size_t i = 0; i < signals->count; i++) {
        double class = cull_tensor_get(&signals->label, i);
        if (class >= MOST_CLASSES)
            FAIL(CULL_BAD_ARGUMENT, "label of example %zu is %.0f, %d classes are the most", i,
                 class, MOST_CLASSES);
        if (class >= (double)classes) classes = (size_t) class + 1;
    }
    TRY(cull_base_grow(classes, sizeof *out->available, "classes", &out->available));
    TRY(cull_base_grow(classes, sizeof *out->chosen, "classes", &out->chosen));
    memset(out->available, 0, classes * sizeof *out->available);
    memset(out->chosen, 0, classes * sizeof *out->chosen);
    out->classes = classes;
    for (size_t i = 0; i < signals->count; i++)
        out->available[(size_t)cull_tensor_get(&signals->label, i)]++;
    for (size_t i = 0; i < subset->count; i++)
        out->chosen[(size_t)cull_tensor_get(&signals->label, subset->index[i])]++;
done:
    return status;
}

/* e_i of every row. */
static void coefficients(const cull_signals *signals, const cull_subset *subset, double *e)
{
    for (size_t i = 0; i < signals->count; i++) e[i] = 0;
    for (size_t i = 0; i < subset->count; i++) e[subset->index[i]] += subset->weight[i];
    for (size_t i = 0; i < signals->count; i++) {
        double count = (double)signals->count;
        e[i] = (subset->count ? e[i] / (double)subset->count : 0) - 1 / count;
    }
}

struct sums {
    cull_kit kit;
    double  *e;     /* [M]                             */
    double  *p;     /* (BLOCK, C) rows of P times e    */
    double  *full;  /* (C, D+1) sum of g               */
    double  *apart; /* (C, D+1) sum of e g             */
    double  *part;  /* (C, D+1) of one block           */
};

static cull_status sums_make(struct sums *sums, const cull_signals *signals, size_t size)
{
    static const char what[] = "a diagnosis";
    cull_status       status = CULL_OK;
    size_t            classes = (size_t)signals->p.shape[1];

    TRY(cull_kit_allocate(&sums->kit, signals->count, sizeof *sums->e, what, &sums->e));
    TRY(cull_kit_allocate(&sums->kit, BLOCK, classes * sizeof *sums->p, what, &sums->p));
    TRY(cull_kit_allocate(&sums->kit, size, sizeof *sums->full, what, &sums->full));
    TRY(cull_kit_allocate(&sums->kit, size, sizeof *sums->apart, what, &sums->apart));
    TRY(cull_kit_allocate(&sums->kit, size, sizeof *sums->part, what, &sums->part));
done:
    return status;
}

/* Add the sum of e g over rows first .. first+rows-1 to `apart`. */
static cull_status add_block(struct sums *sums, const cull_signals *signals, size_t first,
                             size_t rows, size_t size)
{
    cull_status  status = CULL_OK;
    size_t       classes = (size_t)signals->p.shape[1];
    cull_tensor  h = signals->h, p = cull_matrix(sums->p, CULL_F64, rows, classes);
    cull_op_args args = {.gradient = {.h = &h, .p = &p, .rows = rows, .b = sums->part}};

    h.data = (void *)(uintptr_t)cull_tensor_row(&signals->h, first);
    h.shape[0] = (int64_t)rows;
    for (size_t i = 0; i < rows; i++) {
        cull_tensor row = cull_tensor_line(&signals->p, first + i);

        cull_tensor_to_double(&row, classes, sums->p + i * classes);
        for (size_t c = 0; c < classes; c++) sums->p[i * classes + c] *= sums->e[first + i];
    }
    TRY(cull_kit_run(&sums->kit, CULL_OP_GRADIENT, signals->count, &args));
    for (size_t i = 0; i < size; i++) sums->apart[i] += sums->part[i];
done:
    return status;
}

static cull_status gradients(cull_backend *backend, const cull_signals *signals,
                             const cull_subset *subset, cull_diagnosis *out)
{
    cull_status  status = CULL_OK;
    struct sums  sums = {.kit.backend = backend};
    size_t       size = (size_t)signals->p.shape[1] * ((size_t)signals->h.shape[1] + 1);
    cull_op_args args = {0};
    double       chosen = 0, inner = 0;

    TRY(sums_make(&sums, signals, size));
    coefficients(signals, subset, sums.e);
    args.gradient.h = &signals->h;
    args.gradient.p = &signals->p;
    args.gradient.rows = signals->count;
    args.gradient.b = sums.full;
    TRY(cull_kit_run(&sums.kit, CULL_OP_GRADIENT, signals->count, &args));
    for (size_t first = 0; first < signals->count; first += BLOCK) {
        size_t left = signals->count - first;
        TRY(add_block(&sums, signals, first, left < BLOCK ? left : BLOCK, size));
    }
    out->error = out->full = 0;
    for (size_t i = 0; i < size; i++) {
        double full = sums.full[i] / (double)signals->count, sub = full + sums.apart[i];
        out->error += sums.apart[i] * sums.apart[i];
        out->full += full * full;
        chosen += sub * sub;
        inner += full * sub;
    }
    if (!isfinite(out->error) || !isfinite(out->full) || !isfinite(chosen))
        FAIL(CULL_NOT_FINITE, "diagnose: the squared gradient is too large for float64");
    if (subset->count && chosen > 0 && out->full > 0)
        out->cosine = fmax(-1, fmin(1, inner / (sqrt(chosen) * sqrt(out->full))));
done:
    cull_kit_clear(&sums.kit);
    return status;
}

cull_status cull_diagnose(cull_backend *backend, const cull_signals *signals,
                          const cull_subset *subset, const cull_subset *other, cull_diagnosis *out)
{
    cull_status    status = CULL_OK;
    cull_backend  *own = NULL;
    cull_needs     read = {0};
    cull_signals   signals_room;
    cull_subset    subset_room, other_room;
    cull_diagnosis room, *given = out;
    cull_trouble   trouble = {0};
    cull_kit       kit = {0};

    SIZED(cull_signals, signals, signals_room);
    SIZED(cull_subset, subset, subset_room);
    SIZED(cull_subset, other, other_room);
    SIZED(cull_diagnosis, out, room);
    if (!signals || !subset || !out)
        FAIL(CULL_BAD_ARGUMENT, "diagnose: signals, a subset and a place are needed");
    out->error = out->full = out->cosine = out->overlap = NAN;
    out->effective = 0;
    out->classes = 0;
    if (cull_tensor_present(&signals->h) || cull_tensor_present(&signals->p))
        read.signals |= CULL_SIGNAL_H | CULL_SIGNAL_P;
    if (cull_tensor_present(&signals->label)) read.signals |= CULL_SIGNAL_LABEL;
    TRY(cull_device_check(signals->device, (cull_device){0}, "the signals"));
    TRY(cull_sel_check_shapes(signals, &read, UINT32_MAX - 1));
    if (!backend) TRY(cull_backend_open("cpu", 1, &own));
    backend = kit.backend = cull_backend_host(backend ? backend : own);
    TRY(cull_sel_check_values(&kit, signals, &read, UINT32_MAX - 1,
                              &(cull_sel_watch){.trouble = &trouble}));
    TRY(cull_sel_trouble_fail(&trouble, UINT32_MAX - 1));
    TRY(check_subset(subset, signals));
    out->effective = effective_size(subset);
    if (other) TRY(overlap(subset, other, &out->overlap));
    if (read.signals & CULL_SIGNAL_LABEL) TRY(composition(signals, subset, out));
    if (read.signals & CULL_SIGNAL_H) TRY(gradients(backend, signals, subset, out));
done:
    cull_sized_give(given, out, sizeof *out);
    cull_kit_clear(&kit);
    cull_backend_close(own);
    return status;
}
