/* data/channels.c - channels first and last. */
#include "data/channels.h"

static bool is_channels(int64_t count)
{
    return count == 1 || count == 3 || count == 4;
}

cull_data_layout cull_data_channels_tell(const int64_t s[CULL_MAX_DIMS])
{
    bool first = is_channels(s[1]), last = is_channels(s[3]);

    if (s[1] == 0 || s[2] == 0 || s[3] == 0) return CULL_LAYOUT_FIRST; /* and is refused */
    if (s[1] == 1 && s[2] == 1 && s[3] == 1) return CULL_LAYOUT_FIRST;
    if (first == last) return CULL_LAYOUT_TOLD;
    return first || s[2] == s[3] ? CULL_LAYOUT_FIRST : CULL_LAYOUT_LAST;
}

cull_status cull_data_channels_find(const char *path, const int64_t s[CULL_MAX_DIMS],
                                    cull_data_layout asked, cull_data_layout *out)
{
    cull_status status = CULL_OK;

    *out = asked == CULL_LAYOUT_TOLD ? cull_data_channels_tell(s) : asked;
    if (*out == CULL_LAYOUT_TOLD)
        FAIL_OPTION("data.layout",
                    "%s has images of (N, %lld, %lld, %lld), which may be nchw, %lld channel%s of "
                    "%lld x %lld, or nhwc, %lld channel%s of %lld x %lld; say which",
                    path, (long long)s[1], (long long)s[2], (long long)s[3], (long long)s[1],
                    s[1] == 1 ? "" : "s", (long long)s[2], (long long)s[3], (long long)s[3],
                    s[3] == 1 ? "" : "s", (long long)s[1], (long long)s[2]);
done:
    return status;
}

void cull_data_channels_turn(const void *from, size_t channels, size_t area, size_t element,
                             void *to)
{
    const uint8_t  *bytes = from;
    const uint32_t *words = from;

    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < area; i++) {
            if (element == 1)
                ((uint8_t *)to)[c * area + i] = bytes[i * channels + c];
            else
                ((uint32_t *)to)[c * area + i] = words[i * channels + c];
        }
}
