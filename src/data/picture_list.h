/*
 * data/picture_list.h - which files lie in which class's folder.
 *
 *     FOLDER/CLASS/...                  class folders alone
 *     FOLDER/train/CLASS/...            or two sets of them; test/ may be called val/
 *
 * Folders are gone through by name, bytewise, so that the order of a list is the same on every
 * machine. docs/formats.md says what is passed over.
 */
#ifndef CULL_DATA_PICTURE_LIST_H
#define CULL_DATA_PICTURE_LIST_H

#include "base/texts.h"

typedef struct cull_picture_entry {
    size_t path; /* where it begins in the list's text */
    uint32_t class;
} cull_picture_entry;

typedef struct cull_picture_list {
    char               *root; /* the folder                                                 */
    char               *text; /* paths below it, each ended by a zero                       */
    size_t              text_size, text_room;
    cull_picture_entry *entry; /* [count] by class, then by path                           */
    size_t              count, room;
    cull_texts          classes; /* names of the folders, bytewise ascending; plain texts   */
    cull_texts          remarks;

    /* what a list of other files sets before it is read */
    const char *of;                  /* what they are, for sentences; NULL: pictures             */
    bool (*named)(const char *path); /* does its name say that it is one? NULL: a picture's */
    const char *passed_over;         /* a folder that is no class; NULL: none               */
} cull_picture_list;

typedef enum cull_picture_want {
    CULL_PICTURES_TRAIN, /* train/, or class folders alone                    */
    CULL_PICTURES_TEST,  /* test/ or val/                                     */
    CULL_PICTURES_ALONE  /* test/ or val/, or class folders alone; not train/ */
} cull_picture_want;

/*
 * The files of one set. *list is zeroed but for what says which files, and ended with
 * cull_data_picture_list_clear(), after a failure too.
 *
 * nameless  there are no classes: all files below the folder, or below train/ or test/ where there
 *           is the one that is wanted.
 *
 * CULL_BAD_FILE when there is no such set (for a test set the sentence says what to do), a class's
 * name is no plain text, a link leads nowhere or folders lie too deep; CULL_IO when a folder cannot
 * be read.
 */
cull_status cull_data_picture_list_read(const char *folder, cull_picture_want want, bool nameless,
                                        cull_picture_list *list);
void        cull_data_picture_list_clear(cull_picture_list *list);

/* The path below the folder of entry i, as its bytes are; and the whole path, for opening it. */
const char *cull_data_picture_path(const cull_picture_list *list, size_t i);
cull_status cull_data_picture_whole(const cull_picture_list *list, size_t i,
                                    char out[CULL_DATA_PATH]);

/* Does this name end as those of pictures do, also of kinds that are not read? */
bool cull_data_picture_named(const char *path);

#endif
