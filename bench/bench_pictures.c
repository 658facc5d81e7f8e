/*
 * bench/bench_pictures.c - what it takes one core to read a picture and scale it.
 *
 *     bench_pictures                            a JPEG of 500x375 made here, to 224 and 64
 *     bench_pictures --serve FOLDER SIDE RAW    every file of a folder, in the order of their
 * names: writes the first 20, read without libjpeg's shrinking, to RAW as (20, 3, SIDE, SIDE),
 * answers a line with their number, then, for every line read, the seconds that all files took,
 * reading included
 */
#include <dirent.h>
#include <stdio.h>
// clang-format off
#include <jpeglib.h>
// clang-format on
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/texts.h"
#include "common.h"
#include "data/picture_file.h"

enum { ROUNDS = 101, WIDTH = 500, HEIGHT = 375, SHOWN = 20 };

static cull_picture_frame frame_of(size_t side, bool exact)
{
    return (cull_picture_frame){
        .channels = 3, .height = side, .width = side, .scaled = true, .exact = exact};
}

/* ---- a picture of its own ---- */

/* Slow waves with some grain, so that it takes about as many bytes as a photograph. */
static void draw(uint8_t *out)
{
    uint32_t noise = 1;

    for (size_t i = 0; i < (size_t)3 * WIDTH * HEIGHT; i++) {
        double x = (double)(i / 3 % WIDTH), y = (double)i / 3 / WIDTH;
        noise = noise * 1664525 + 1013904223;
        out[i] = (uint8_t)(120 + 60 * sin(x / 30 + (double)(i % 3)) + 40 * sin(y / 17) +
                           (double)(noise >> 27));
    }
}

static void compress(const uint8_t *pixels, unsigned char **data, unsigned long *size)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr       errors;

    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, data, size);
    info.image_width = WIDTH;
    info.image_height = HEIGHT;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 90, TRUE);
    jpeg_start_compress(&info, TRUE);
    for (size_t y = 0; y < HEIGHT; y++) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(pixels + y * 3 * WIDTH);
        (void)jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
}

static int run_own(void)
{
    static const size_t sides[] = {224, 64};
    static uint8_t      pixels[3 * WIDTH * HEIGHT], out[3 * 224 * 224];
    unsigned char      *data = NULL;
    unsigned long       size = 0;
    double              seconds[ROUNDS];
    char                name[64];

    draw(pixels);
    compress(pixels, &data, &size);
    for (size_t s = 0; s < 2; s++) {
        cull_picture_frame frame = frame_of(sides[s], false);
        cull_picture_file  file = {.name = "own", .data = data, .size = size};
        for (int i = 0; i < ROUNDS; i++) {
            double start = cull_base_seconds();
            if (cull_data_picture_make(&file, &frame, out)) return 1;
            seconds[i] = cull_base_seconds() - start;
        }
        (void)snprintf(name, sizeof name, "JPEG of %dx%d, %lu bytes, to %zu", WIDTH, HEIGHT, size,
                       sides[s]);
        bench_tell(name, seconds, ROUNDS);
    }
    free(data);
    return 0;
}

/* ---- pictures of a folder ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static cull_status list(const char *folder, cull_texts *out)
{
    cull_status    status = CULL_OK;
    DIR           *dir = opendir(folder);
    struct dirent *entry = NULL;
    char           path[CULL_DATA_PATH];

    if (!dir) FAIL(CULL_IO, "%s: cannot open", folder);
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.') continue;
        TRY(cull_base_join(folder, entry->d_name, path));
        TRY(cull_texts_add(out, path, strlen(path)));
    }
    if (out->count == 0) FAIL(CULL_IO, "%s: is empty", folder);
    qsort(out->text, out->count, sizeof *out->text, by_name);
done:
    if (dir) (void)closedir(dir);
    return status;
}

static cull_status read_one(const char *path, const cull_picture_frame *frame, uint8_t *out)
{
    cull_status       status = CULL_OK;
    void             *data = NULL;
    cull_picture_file file = {.name = path};

    TRY(cull_file_read(path, &data, &file.size));
    file.data = data;
    TRY(cull_data_picture_make(&file, frame, out));
done:
    cull_bytes_release(data);
    return status;
}

static cull_status show(const cull_texts *paths, size_t side, uint8_t *out, const char *raw)
{
    cull_status        status = CULL_OK;
    cull_picture_frame frame = frame_of(side, true);
    FILE              *file = fopen(raw, "wb");
    size_t             bytes = 3 * side * side;

    if (!file) FAIL(CULL_IO, "%s: cannot open", raw);
    for (size_t i = 0; i < SHOWN && i < paths->count; i++) {
        TRY(read_one(paths->text[i], &frame, out));
        if (fwrite(out, 1, bytes, file) != bytes) FAIL(CULL_IO, "%s: cannot write", raw);
    }
done:
    if (file && fclose(file)) status = cull_fail(CULL_IO, "%s: cannot write", raw);
    return status;
}

static cull_status serve(const char *folder, size_t side, const char *raw)
{
    cull_status        status = CULL_OK;
    cull_texts         paths = {0};
    cull_picture_frame frame = frame_of(side, false);
    uint8_t           *out = NULL;
    char               line[64];

    TRY(cull_base_alloc(3 * side, side, "a picture", &out));
    TRY(list(folder, &paths));
    TRY(show(&paths, side, out, raw));
    printf("%zu\n", paths.count);
    (void)fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double start = cull_base_seconds();
        for (size_t i = 0; i < paths.count; i++) TRY(read_one(paths.text[i], &frame, out));
        printf("%.6f\n", cull_base_seconds() - start);
        (void)fflush(stdout);
    }
done:
    cull_texts_clear(&paths);
    cull_base_free(out);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 5 || strcmp(argv[1], "--serve") != 0) return run_own();
    if (serve(argv[2], (size_t)strtoul(argv[3], NULL, 10), argv[4]) == CULL_OK) return 0;
    (void)fprintf(stderr, "bench_pictures: %s\n", cull_last_error());
    return 1;
}
