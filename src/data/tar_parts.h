/*
 * data/tar_parts.h - which files of archives belong together as an example.
 *
 *     KEY.jpg and KEY.cls     an input and its label, where labels are files
 *     CLASS/NAME.jpg          else: the class is the first folder
 *
 * Behind the folders that all inputs share, train/ and test/ (or val/) may tell two sets apart.
 */
#ifndef CULL_DATA_TAR_PARTS_H
#define CULL_DATA_TAR_PARTS_H

#include "data/dataset.h"
#include "data/tar.h"

typedef struct cull_tar_example {
    size_t      input;      /* members of the list */
    size_t      label;      /* SIZE_MAX: the class is a folder, or there is none */
    const char *class_name; /* in the list's text; NULL: none */
    size_t      class_length;
} cull_tar_example;

typedef struct cull_tar_examples {
    cull_tar_example *example; /* [count] in the order of their inputs */
    size_t            count;
    bool              folders; /* classes are folders */
    bool              json;    /* labels are members of JSON objects ... */
    const char       *key;     /* ... of this name; NULL: told by what names there are */
} cull_tar_examples;

/* Those of the request's set. CULL_BAD_FILE, naming the file, where an input has no label or a
 * label no input, where one is there twice or lies in no class's folder; about data.test where
 * there is no test set. Ends with cull_data_tar_parts_clear(). */
cull_status cull_data_tar_parts(const cull_tar_list *list, const cull_data_request *request,
                                cull_dataset *into, cull_tar_examples *out);
void        cull_data_tar_parts_clear(cull_tar_examples *examples);

/* Does a name end as an array's? */
bool cull_data_tar_is_array(const char *name);

#endif
