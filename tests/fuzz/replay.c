/* fuzz/replay.c - runs a fuzz target over the files of its corpus, where there is no libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replay_file(const char *path)
{
    struct stat info;
    FILE       *file = fopen(path, "rb");
    uint8_t    *data = NULL;
    size_t      size = 0;
    int         failed = 1;

    if (file && stat(path, &info) == 0) {
        size = (size_t)info.st_size;
        data = malloc(size ? size : 1); /* exactly, so that a sanitizer sees the end */
        if (data && fread(data, 1, size, file) == size) {
            (void)LLVMFuzzerTestOneInput(data, size);
            failed = 0;
        }
    }
    if (failed) (void)fprintf(stderr, "%s: cannot be read\n", path);
    free(data);
    if (file) (void)fclose(file);
    return failed;
}

int main(int argc, char **argv)
{
    DIR           *dir = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *entry = NULL;
    int            failed = 0;
    size_t         count = 0;

    if (!dir) return fprintf(stderr, "usage: replay FOLDER\n"), 2;
    while ((entry = readdir(dir))) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        failed |= replay_file(path);
        count++;
    }
    (void)closedir(dir);
    (void)printf("%zu inputs replayed\n", count);
    return failed || count == 0;
}
