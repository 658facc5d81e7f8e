/* tests/unit/test_picture.c - what becomes of every form of picture, and of damaged ones. */
#include "data/picture.h"

#include <math.h>

#include "data/scale.h"
#include "pictures.h"

enum { W = 13, H = 9, PIXELS = W * H };

static void fill(uint8_t *out, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(256 * random_uniform(seed, i));
}

/* A picture that JPEG keeps well: slow changes, different in each channel. */
static void fill_smooth(uint8_t *out, size_t w, size_t h, size_t channels)
{
    for (size_t i = 0; i < w * h * channels; i++) {
        double y = (double)(i / channels / w) / (double)h;
        double x = (double)(i / channels % w) / (double)w;
        out[i] = (uint8_t)(127 + 100 * sin(3 * x + 2 * y + (double)(i % channels)));
    }
}

/* As it is, in a set with colours or one of grey pictures. */
static cull_picture_frame as_is(size_t width, size_t height, size_t channels)
{
    return (cull_picture_frame){.channels = channels, .height = height, .width = width};
}

static cull_picture_frame square(size_t side, cull_data_fit fit)
{
    return (cull_picture_frame){
        .channels = 3, .height = side, .width = side, .scaled = true, .fit = fit, .exact = true};
}

static cull_status make(const struct made *m, cull_picture_frame frame, uint8_t *out)
{
    cull_picture_file file = file_of(m);

    return cull_data_picture_make(&file, &frame, out);
}

static uint8_t over_white(unsigned level, unsigned opacity)
{
    return (uint8_t)lround(level * opacity / 255. + 255. - opacity);
}

/* ---- PNG ---- */

/* The number of `bits` at pixel x, channel c of a row. */
static unsigned number_at(const uint8_t *row, size_t x, size_t c, size_t channels, int bits)
{
    size_t at = (x * channels + c) * (size_t)bits;

    if (bits == 16) return row[at / 8] * 256u + row[at / 8 + 1];
    return (unsigned)row[at / 8] >> (8 - (size_t)bits - at % 8) & ((1u << bits) - 1);
}

static uint8_t to_eight(unsigned number, int bits)
{
    return (uint8_t)lround(number * 255. / ((1 << bits) - 1));
}

/* What pixel x of a row must become. */
static void expect_png(const struct png_form *f, const uint8_t *row, size_t x, uint8_t out[3])
{
    bool     colour = f->type & PNG_COLOR_MASK_COLOR, alpha = f->type & PNG_COLOR_MASK_ALPHA;
    size_t   colours = f->type == PNG_COLOR_TYPE_RGB || f->type == PNG_COLOR_TYPE_RGB_ALPHA ? 3 : 1;
    unsigned number[4] = {0}, opacity = 255;

    for (size_t c = 0; c < colours + alpha; c++)
        number[c] = number_at(row, x, c, colours + alpha, f->bits);
    if (f->type == PNG_COLOR_TYPE_PALETTE) {
        const png_color *p = &f->palette[number[0]];
        if ((int)number[0] < f->opacities) opacity = f->opacity[number[0]];
        out[0] = over_white(p->red, opacity);
        out[1] = over_white(p->green, opacity);
        out[2] = over_white(p->blue, opacity);
        return;
    }
    if (alpha) opacity = to_eight(number[colours], f->bits);
    if (f->clear && colour && number[0] == f->clear->red && number[1] == f->clear->green &&
        number[2] == f->clear->blue)
        opacity = 0;
    if (f->clear && !colour && number[0] == f->clear->gray) opacity = 0;
    for (size_t c = 0; c < 3; c++)
        out[c] = over_white(to_eight(number[colours == 3 ? c : 0], f->bits), opacity);
}

static void assert_png(const struct png_form *f)
{
    size_t      channels = f->type == PNG_COLOR_TYPE_RGB ? 3
                           : f->type == PNG_COLOR_TYPE_RGB_ALPHA
                               ? 4
                               : 1 + (f->type == PNG_COLOR_TYPE_GRAY_ALPHA);
    size_t      row = (W * channels * (size_t)f->bits + 7) / 8;
    bool        grey = !(f->type & PNG_COLOR_MASK_COLOR);
    uint8_t     rows[H * W * 8], out[2][3 * PIXELS];
    struct made m = {0};

    fill(rows, H * row, (uint64_t)(f->type * 32 + f->bits));
    if (f->clear) memset(rows, 0, row); /* a row of that colour */
    m = make_png(f, rows, row);
    assert_ok(make(&m, as_is(W, H, 3), out[0]));
    for (size_t i = 0; i < PIXELS; i++) {
        uint8_t right[3];
        expect_png(f, rows + i / W * row, i % W, right);
        for (size_t c = 0; c < 3; c++)
            if (right[c] != out[0][c * PIXELS + i])
                fail_msg("type %d of %d bits: pixel %zu is %d, not %d", f->type, f->bits, i,
                         out[0][c * PIXELS + i], right[c]);
    }
    if (grey) {
        assert_ok(make(&m, as_is(W, H, 1), out[1]));
        assert_memory_equal(out[0], out[1], PIXELS);
    } else {
        assert_fails(CULL_BAD_FILE, "made: has colours where a grey picture is wanted",
                     make(&m, as_is(W, H, 1), out[1]));
    }
    drop(&m);
}

static void every_form_of_png_becomes_eight_bits_over_white(void **state)
{
    static const struct {
        int type, bits;
    } forms[] = {{0, 1},  {0, 2}, {0, 4},  {0, 8}, {0, 16}, {4, 8}, {4, 16}, {2, 8},
                 {2, 16}, {6, 8}, {6, 16}, {3, 1}, {3, 2},  {3, 4}, {3, 8}};
    png_color    palette[256];
    png_byte     opacity[200];
    png_color_16 black = {0};

    (void)state;
    for (int i = 0; i < 256; i++)
        palette[i] = (png_color){(png_byte)i, (png_byte)(7 * i), (png_byte)(255 - i)};
    for (int i = 0; i < 200; i++) opacity[i] = (png_byte)(3 * i);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int way = 0; way < 4; way++) {
            int             colours = 1 << forms[i].bits;
            struct png_form f = {.width = W,
                                 .height = H,
                                 .type = forms[i].type,
                                 .bits = forms[i].bits,
                                 .interlaced = way & 1};
            if (f.type == PNG_COLOR_TYPE_PALETTE) {
                f.palette = palette;
                f.colours = colours;
                f.opacity = way & 2 ? opacity : NULL;
                f.opacities = way & 2 ? (colours < 200 ? colours : 200) : 0;
            } else if (way & 2 && !(f.type & PNG_COLOR_MASK_ALPHA)) {
                f.clear = &black;
            }
            assert_png(&f);
        }
}

/* ---- WebP ---- */

static void webp_without_loss_is_read_as_it_is(void **state)
{
    uint8_t           pixels[4 * PIXELS], out[3 * PIXELS];
    cull_picture_head head = {0};

    (void)state;
    for (size_t channels = 3; channels <= 4; channels++) {
        struct made       m = {0};
        cull_picture_file file = {0};
        fill(pixels, sizeof pixels, channels);
        for (size_t i = 0; i < PIXELS && channels == 4; i++) /* a clear pixel's colour is lost */
            if (pixels[4 * i + 3] == 0) pixels[4 * i + 3] = 1;
        m = make_webp(pixels, W, H, channels);
        file = file_of(&m);
        assert_ok(cull_data_picture_look(&file, &head));
        assert_int_equal(W, head.width);
        assert_int_equal(H, head.height);
        assert_false(head.grey);
        assert_ok(make(&m, as_is(W, H, 3), out));
        for (size_t i = 0; i < PIXELS; i++)
            for (size_t c = 0; c < 3; c++)
                assert_int_equal(
                    over_white(pixels[channels * i + c], channels == 4 ? pixels[4 * i + 3] : 255),
                    out[c * PIXELS + i]);
        drop(&m);
    }
}

/* ---- JPEG ---- */

/* What rounding may change at a quality of 100 (blue is 1.8 times a rounded number), and what
 * colours at half the resolution may. */
enum { NEAR = 4, NEAR_HALVED = 12, JW = 40, JH = 24, JPIXELS = JW * JH };

static void assert_near(const uint8_t *pixels, const uint8_t *out, int most)
{
    for (size_t i = 0; i < JPIXELS; i++)
        for (size_t c = 0; c < 3; c++)
            if (abs(pixels[3 * i + c] - out[c * JPIXELS + i]) > most)
                fail_msg("pixel %zu of %zu is %d, not %d", i, c, out[c * JPIXELS + i],
                         pixels[3 * i + c]);
}

static void jpegs_are_read_however_they_are_laid_out(void **state)
{
    uint8_t          pixels[3 * JPIXELS], out[3 * JPIXELS], plain[3 * JPIXELS];
    struct jpeg_form f = {.width = JW, .height = JH, .from = JCS_RGB, .quality = 100};

    (void)state;
    fill_smooth(pixels, JW, JH, 3);
    for (int way = 0; way < 16; way++) {
        struct made m = {0};
        f.progressive = way & 1;
        f.restart = way & 2 ? 1 : 0;
        f.stored = way & 4 ? JCS_RGB : JCS_YCbCr;
        f.halved = way & 8;
        m = make_jpeg(&f, pixels);
        assert_ok(make(&m, as_is(JW, JH, 3), out));
        assert_near(pixels, out, f.halved ? NEAR_HALVED : NEAR);
        if (way % 4 == 0) memcpy(plain, out, sizeof plain);
        assert_memory_equal(plain, out, sizeof out); /* the same coefficients in another order */
        drop(&m);
    }
}

static void a_grey_jpeg_is_grey(void **state)
{
    uint8_t          pixels[JPIXELS], out[3 * JPIXELS];
    struct jpeg_form f = {
        .width = JW, .height = JH, .from = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE, .quality = 100};
    struct made       m = {0};
    cull_picture_file file = {0};
    cull_picture_head head = {0};

    (void)state;
    fill_smooth(pixels, JW, JH, 1);
    m = make_jpeg(&f, pixels);
    file = file_of(&m);
    assert_ok(cull_data_picture_look(&file, &head));
    assert_true(head.grey);
    assert_ok(make(&m, as_is(JW, JH, 1), out));
    for (size_t i = 0; i < JPIXELS; i++) assert_true(abs(pixels[i] - out[i]) <= NEAR);
    assert_ok(make(&m, as_is(JW, JH, 3), out));
    assert_memory_equal(out, out + JPIXELS, JPIXELS);
    assert_memory_equal(out, out + 2 * JPIXELS, JPIXELS);
    drop(&m);
}

static void four_inks_become_three_colours(void **state)
{
    uint8_t inks[4 * JPIXELS], right[3 * JPIXELS], out[3 * JPIXELS];

    (void)state;
    fill_smooth(inks, JW, JH, 4);
    for (int way = 0; way < 3; way++) {
        struct jpeg_form f = {.width = JW, .height = JH, .from = JCS_CMYK, .quality = 100};
        struct made      m = {0};
        f.stored = way == 1 ? JCS_YCCK : JCS_CMYK;
        f.anonymous = way == 2;
        for (size_t i = 0; i < JPIXELS; i++) /* Adobe's files hold light where others hold ink */
            for (size_t c = 0; c < 3; c++) {
                double colour = inks[4 * i + c], black = inks[4 * i + 3];
                right[3 * i + c] = (uint8_t)lround(
                    f.anonymous ? (255 - colour) * (255 - black) / 255 : colour * black / 255);
            }
        m = make_jpeg(&f, inks);
        assert_ok(make(&m, as_is(JW, JH, 3), out));
        assert_near(right, out, NEAR);
        drop(&m);
    }
}

/* DC and 63 bands of each component: 190 scans. */
static void more_scans_than_anyone_makes_are_refused(void **state)
{
    jpeg_scan_info              scans[190] = {{.comps_in_scan = 3, .component_index = {0, 1, 2}}};
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr       errors;
    uint8_t                     row[16 * 3] = {0}, out[3 * 256];
    unsigned char              *data = NULL;
    unsigned long               size = 0;
    struct made                 m = {0};

    (void)state;
    for (int i = 1; i < 190; i++)
        scans[i] = (jpeg_scan_info){.comps_in_scan = 1,
                                    .component_index = {(i - 1) % 3},
                                    .Ss = (i - 1) / 3 + 1,
                                    .Se = (i - 1) / 3 + 1};
    for (int many = 0; many < 2; many++) {
        info.err = jpeg_std_error(&errors);
        jpeg_create_compress(&info);
        jpeg_mem_dest(&info, &data, &size);
        info.image_width = info.image_height = 16;
        info.input_components = 3;
        info.in_color_space = JCS_RGB;
        jpeg_set_defaults(&info);
        info.scan_info = scans;
        info.num_scans = many ? 190 : 90;
        jpeg_start_compress(&info, TRUE);
        for (int y = 0; y < 16; y++) (void)jpeg_write_scanlines(&info, &(JSAMPROW){row}, 1);
        jpeg_finish_compress(&info);
        jpeg_destroy_compress(&info);
        m = (struct made){data, size};
        if (many)
            assert_fails(CULL_BAD_FILE, "made: a damaged JPEG picture (more scans",
                         make(&m, as_is(16, 16, 3), out));
        else
            assert_ok(make(&m, as_is(16, 16, 3), out));
        drop(&m);
        data = NULL;
    }
}

/* ---- which way up ---- */

/* Stored pixel (x, y) is seen at (*u, *v); the table of EXIF's definition. */
static void seen_at(unsigned turn, size_t x, size_t y, size_t *u, size_t *v)
{
    static const char *const top_left[] = {"", "xy", "Xy", "XY", "xY", "yx", "Yx", "YX", "yX"};
    size_t                   at[2];

    for (int i = 0; i < 2; i++) {
        char c = top_left[turn][i];
        at[i] = c == 'x' ? x : c == 'X' ? W - 1 - x : c == 'y' ? y : H - 1 - y;
    }
    *u = at[0];
    *v = at[1];
}

/* All three kinds, each with its EXIF; JPEG's pixels are only near. */
static struct made turned(int kind, const uint8_t *pixels, unsigned turn)
{
    unsigned char    exif[EXIF_BYTES];
    struct made      m = {0}, plain = {0};
    struct png_form  png = {.width = W, .height = H, .type = PNG_COLOR_TYPE_RGB, .bits = 8};
    struct jpeg_form jpeg = {.width = W,
                             .height = H,
                             .from = JCS_RGB,
                             .stored = JCS_YCbCr,
                             .quality = 100,
                             .turn = turn};

    if (kind == 0) return make_jpeg(&jpeg, pixels);
    make_exif(exif, turn, turn % 2);
    png.exif = exif + 6; /* there it has no "Exif" before it */
    png.exif_size = EXIF_BYTES - 6;
    if (kind == 1) return make_png(&png, pixels, (size_t)3 * W);
    plain = make_webp(pixels, W, H, 3);
    m = make_webp_exif(&plain, W, H, turn);
    drop(&plain);
    return m;
}

static void pictures_are_turned_upright(void **state)
{
    uint8_t pixels[3 * PIXELS], out[3 * PIXELS];

    (void)state;
    fill_smooth(pixels, W, H, 3);
    for (unsigned turn = 1; turn <= 8; turn++)
        for (int kind = 0; kind < 3; kind++) {
            struct made       m = turned(kind, pixels, turn);
            cull_picture_file file = file_of(&m);
            cull_picture_head head = {0};
            size_t            width = 0, height = 0;
            assert_ok(cull_data_picture_look(&file, &head));
            assert_int_equal(turn, head.turn);
            cull_data_picture_upright(&head, &width, &height);
            assert_int_equal(turn < 5 ? W : H, width);
            assert_int_equal(turn < 5 ? H : W, height);
            assert_ok(make(&m, as_is(width, height, 3), out));
            for (size_t i = 0; i < PIXELS; i++) {
                size_t u = 0, v = 0;
                seen_at(turn, i % W, i / W, &u, &v);
                for (size_t c = 0; c < 3; c++)
                    assert_in_range(out[c * PIXELS + v * width + u] + NEAR,
                                    pixels[3 * i + c] + (kind ? NEAR : 0),
                                    pixels[3 * i + c] + (kind ? NEAR : 2 * NEAR));
            }
            drop(&m);
        }
}

/* Scaling what is stored and then turning it is scaling what is seen. */
static void a_turned_picture_is_cut_as_it_is_seen(void **state)
{
    static const cull_data_fit fits[] = {CULL_FIT_COVER, CULL_FIT_STRETCH, CULL_FIT_CENTRE};
    uint8_t                    pixels[3 * PIXELS], upright[3 * PIXELS], out[2][3 * 36];

    (void)state;
    fill(pixels, sizeof pixels, 4);
    for (unsigned turn = 1; turn <= 8; turn++)
        for (size_t f = 0; f < 3; f++)
            for (size_t side = 3; side <= 6; side++) {
                size_t      width = turn < 5 ? W : H, height = turn < 5 ? H : W;
                struct made m = turned(1, pixels, turn), seen = {0};
                for (size_t i = 0; i < PIXELS; i++) {
                    size_t u = 0, v = 0;
                    seen_at(turn, i % W, i / W, &u, &v);
                    memcpy(upright + 3 * (v * width + u), pixels + 3 * i, 3);
                }
                seen = make_plain_png(upright, width, height, 3);
                assert_ok(make(&m, square(side, fits[f]), out[0]));
                assert_ok(make(&seen, square(side, fits[f]), out[1]));
                for (size_t i = 0; i < 3 * side * side; i++) /* sums in another order */
                    assert_true(abs(out[0][i] - out[1][i]) <= 1);
                drop(&seen);
                drop(&m);
            }
}

static void exif_of_any_bytes_says_something(void **state)
{
    unsigned char good[EXIF_BYTES], changed[EXIF_BYTES];

    (void)state;
    for (int big = 0; big < 2; big++) {
        make_exif(good, 6, big);
        assert_int_equal(6, cull_data_exif_turn(good, sizeof good));
        assert_int_equal(6, cull_data_exif_turn(good + 6, sizeof good - 6));
        for (size_t i = 0; i < sizeof good; i++) {
            for (unsigned bit = 0; bit < 256; bit++) {
                unsigned turn = 0;
                memcpy(changed, good, sizeof good);
                changed[i] = (unsigned char)bit;
                turn = cull_data_exif_turn(changed, sizeof changed);
                assert_in_range(turn, 1, 8);
            }
            if (i < sizeof good - 6) assert_int_equal(1, cull_data_exif_turn(good, i));
        }
        make_exif(good, 9, big);
        assert_int_equal(1, cull_data_exif_turn(good, sizeof good));
    }
}

/* ---- sizes ---- */

/* Columns count up from the left, rows from the top. */
static struct made ramp(size_t w, size_t h)
{
    uint8_t    *pixels = malloc(3 * w * h);
    struct made m = {0};

    for (size_t i = 0; i < w * h; i++) {
        pixels[3 * i] = (uint8_t)(i % w);
        pixels[3 * i + 1] = (uint8_t)(i / w);
        pixels[3 * i + 2] = 0;
    }
    m = make_plain_png(pixels, w, h, 3);
    free(pixels);
    return m;
}

static void the_middle_is_taken(void **state)
{
    static const size_t cases[][3] = {{11, 4, 4}, {9, 4, 2}, {12, 4, 4}, {4, 4, 0}, {7, 4, 2}};
    uint8_t             out[48];

    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (int tall = 0; tall < 2; tall++) {
            struct made m = tall ? ramp(4, cases[i][0]) : ramp(cases[i][0], 4);
            assert_ok(make(&m, square(4, CULL_FIT_CENTRE), out));
            for (size_t k = 0; k < 16; k++) {
                assert_int_equal(k % 4 + (tall ? 0 : cases[i][2]), out[k]);
                assert_int_equal(k / 4 + (tall ? cases[i][2] : 0), out[16 + k]);
            }
            drop(&m);
        }
}

static void cover_scales_the_shorter_side_and_stretch_both(void **state)
{
    struct made     m = ramp(50, 30);
    uint8_t         pixels[3 * 1500] = {0}, out[3 * 144], right[3 * 144];
    cull_scale_axis down = {30, 30, 12, 0, 12}, wide = {50, 50, 20, 4, 12},
                    all = {50, 50, 12, 0, 12};
    cull_scale_out to = {right, 144, 12, 1};

    (void)state;
    for (size_t i = 0; i < 1500; i++) {
        pixels[3 * i] = (uint8_t)(i % 50);
        pixels[3 * i + 1] = (uint8_t)(i / 50);
    }
    assert_ok(make(&m, square(12, CULL_FIT_COVER), out));
    assert_ok(cull_data_scale(pixels, 3, &down, &wide, &to));
    assert_memory_equal(right, out, sizeof out);
    assert_ok(make(&m, square(12, CULL_FIT_STRETCH), out));
    assert_ok(cull_data_scale(pixels, 3, &down, &all, &to));
    assert_memory_equal(right, out, sizeof out);
    drop(&m);
    m = ramp(3, 2); /* and enlarge */
    assert_ok(make(&m, square(12, CULL_FIT_COVER), out));
    assert_int_equal(1, out[72 + 6]);
    drop(&m);
}

static void what_does_not_fit_is_told(void **state)
{
    struct made m = ramp(20, 30);
    uint8_t     out[3 * 600];

    (void)state;
    assert_fails(CULL_BAD_OPTION,
                 "made: has 20x30 pixels, and data.fit=centre takes 24x24 as they are",
                 make(&m, square(24, CULL_FIT_CENTRE), out));
    assert_string_equal("data.fit", cull_last_subject());
    assert_fails(CULL_BAD_FILE, "made: has 20x30 pixels where 30x20 are wanted",
                 make(&m, as_is(30, 20, 3), out));
    drop(&m);
}

/* libjpeg's own means beside ours: the picture is the same to a few levels, at its borders too. */
static void a_large_jpeg_may_be_shrunk_while_it_is_read(void **state)
{
    enum { FAR_OFF = 4 };
    static const size_t sizes[][2] = {{640, 480}, {203, 157}, {157, 203}, {1001, 130}};
    size_t              shrunk = 0;

    (void)state;
    for (size_t s = 0; s < 4; s++)
        for (size_t side = 8; side <= 64; side *= 2)
            for (int halved = 0; halved < 2; halved++) {
                size_t             w = sizes[s][0], h = sizes[s][1], least = w < h ? w : h;
                uint8_t           *pixels = malloc(3 * w * h), out[2][3 * 64 * 64];
                cull_picture_frame frame = square(side, CULL_FIT_COVER);
                struct jpeg_form   f = {.width = w,
                                        .height = h,
                                        .from = JCS_RGB,
                                        .stored = JCS_YCbCr,
                                        .halved = halved,
                                        .quality = 95};
                struct made        m = {0};
                fill_smooth(pixels, w, h, 3);
                m = make_jpeg(&f, pixels);
                assert_ok(make(&m, frame, out[0]));
                frame.exact = false;
                assert_ok(make(&m, frame, out[1]));
                for (size_t i = 0; i < 3 * side * side; i++)
                    assert_true(abs(out[0][i] - out[1][i]) <= FAR_OFF);
                if (least < 4 * side) assert_memory_equal(out[0], out[1], 3 * side * side);
                shrunk += memcmp(out[0], out[1], 3 * side * side) != 0;
                drop(&m);
                free(pixels);
            }
    assert_true(shrunk > 8);
}

/* ---- what is wrong ---- */

static void what_is_no_picture_is_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t      size;
        const char *sentence;
    } cases[] = {{"", 0, "made: is empty"},
                 {"GIF89a", 6, "made: neither a JPEG, a PNG nor a WebP picture"},
                 {"\xff\xd8\xff", 3, "made: a damaged JPEG picture ("},
                 {"\x89PNG\r\n\x1a\n", 8, "made: a damaged PNG picture (cut short)"},
                 {"RIFF\x04\0\0\0WEBP", 12, "made: a damaged WebP picture ("},
                 {"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x07\0\0\x07\0\0", 30,
                  "made: a WebP animation; save the one picture of it that is meant"}};
    uint8_t out[192];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m = {malloc(cases[i].size + 1), cases[i].size};
        memcpy(m.data, cases[i].bytes, cases[i].size);
        assert_fails(CULL_BAD_FILE, cases[i].sentence, make(&m, as_is(8, 8, 3), out));
        drop(&m);
    }
}

static size_t largest; /* allocation */

static void *note_allocation(void *context, size_t bytes)
{
    (void)context;
    largest = bytes > largest ? bytes : largest;
    return malloc(bytes);
}

static void *note_growth(void *context, void *data, size_t bytes)
{
    (void)context;
    largest = bytes > largest ? bytes : largest;
    return realloc(data, bytes);
}

static void release(void *context, void *data)
{
    (void)context;
    free(data);
}

static unsigned crc_of(const unsigned char *data, size_t size)
{
    unsigned crc = ~0u;

    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Each kind's header changed so that it claims more. */
static void a_header_that_claims_too_much_is_not_believed(void **state)
{
    static const cull_allocator noting = {note_allocation, note_growth, release, NULL};
    struct jpeg_form            form = {
                   .width = W, .height = H, .from = JCS_RGB, .stored = JCS_YCbCr, .quality = 90};
    uint8_t     pixels[3 * PIXELS], out[3 * 64];
    struct made m[4] = {{0}};
    unsigned    crc = 0;

    (void)state;
    fill(pixels, sizeof pixels, 5);
    m[0] = make_jpeg(&form, pixels);
    for (size_t i = 0; i + 9 < m[0].size; i++)
        if (m[0].data[i] == 0xff && m[0].data[i + 1] == 0xc0) memset(m[0].data + i + 5, 0xfa, 4);
    m[1] = make_plain_png(pixels, W, H, 3);
    memset(m[1].data + 17, 0xff, 3);
    memset(m[1].data + 21, 0xff, 3);
    crc = crc_of(m[1].data + 12, 17);
    for (int i = 0; i < 4; i++) m[1].data[29 + i] = (unsigned char)(crc >> (24 - 8 * i));
    m[2] = make_webp(pixels, W, H, 3);
    memset(m[2].data + 21, 0xff, 3); /* 14 bits each of width and height, less one */
    m[2].data[24] |= 0x0f;
    m[3] = make_plain_png(pixels, W, H, 3);
    memcpy(m[3].data + 33, "\x7e\0\0\0zTXt", 8); /* one of its chunks has two GiB */
    cull_allocator_set(&noting);
    for (int i = 0; i < 4; i++) {
        assert_fails(CULL_BAD_FILE, i < 3 ? "pixels; at most 2^26 are read" : "made: a damaged PNG",
                     make(&m[i], square(8, CULL_FIT_COVER), out));
        drop(&m[i]);
    }
    cull_allocator_set(NULL);
    assert_true(largest > 0 && largest < 1 << 16);
}

/* One of each kind; JPEG in one scan and in several. */
static struct made sample(int kind)
{
    uint8_t          pixels[4 * PIXELS];
    struct jpeg_form form = {.width = W,
                             .height = H,
                             .from = JCS_RGB,
                             .stored = JCS_YCbCr,
                             .quality = 90,
                             .progressive = kind == 1,
                             .turn = 5};

    fill(pixels, sizeof pixels, 6);
    if (kind < 2) return make_jpeg(&form, pixels);
    return kind == 2 ? make_plain_png(pixels, W, H, 4) : make_webp(pixels, W, H, 4);
}

static void a_picture_cut_short_is_refused_wherever_it_is_cut(void **state)
{
    static const size_t spare[] = {2, 0, 12, 1}; /* the end marker; the end chunk; a filling byte */
    uint8_t             whole[3 * 64], out[3 * 64];

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct made m = sample(kind);
        assert_ok(make(&m, square(8, CULL_FIT_COVER), whole));
        for (size_t size = m.size; size-- > 0;) {
            struct made part = {malloc(size ? size : 1), size}; /* no byte more, for a sanitizer */
            cull_status status = CULL_OK;
            memcpy(part.data, m.data, size);
            status = make(&part, square(8, CULL_FIT_COVER), out);
            if (status == CULL_OK) {
                assert_true(size + spare[kind] >= m.size);
                assert_memory_equal(whole, out, sizeof out);
            } else {
                assert_int_equal(CULL_BAD_FILE, status);
                assert_non_null(strstr(cull_last_error(), "made: "));
            }
            drop(&part);
        }
        drop(&m);
    }
}

static void a_changed_byte_gives_pixels_or_a_sentence(void **state)
{
    uint8_t out[3 * 64];
    size_t  refused = 0, read = 0;

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct made m = sample(kind);
        for (size_t i = 0; i < m.size; i++)
            for (unsigned change = 1; change < 256; change += 50) {
                cull_status status = CULL_OK;
                m.data[i] ^= (unsigned char)change;
                cull_fail(CULL_OK, "%s", "");
                status = make(&m, square(8, CULL_FIT_COVER), out);
                assert_true(status == CULL_OK || status == CULL_BAD_FILE);
                if (status) assert_non_null(strstr(cull_last_error(), "made: "));
                refused += status != CULL_OK;
                read += status == CULL_OK;
                m.data[i] ^= (unsigned char)change;
            }
        drop(&m);
    }
    assert_true(refused > 100 && read > 100);
}

static void survives_every_allocation_failure(void **state)
{
    uint8_t out[3 * 64];

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct made m = sample(kind);
        cull_status status = CULL_NO_MEMORY;
        for (size_t n = 1; status != CULL_OK; n++) {
            fail_nth_alloc(n);
            status = make(&m, square(8, CULL_FIT_COVER), out);
            fail_nth_alloc(0);
            assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        }
        drop(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_png_becomes_eight_bits_over_white),
        cmocka_unit_test(webp_without_loss_is_read_as_it_is),
        cmocka_unit_test(jpegs_are_read_however_they_are_laid_out),
        cmocka_unit_test(a_grey_jpeg_is_grey),
        cmocka_unit_test(four_inks_become_three_colours),
        cmocka_unit_test(more_scans_than_anyone_makes_are_refused),
        cmocka_unit_test(pictures_are_turned_upright),
        cmocka_unit_test(a_turned_picture_is_cut_as_it_is_seen),
        cmocka_unit_test(exif_of_any_bytes_says_something),
        cmocka_unit_test(the_middle_is_taken),
        cmocka_unit_test(cover_scales_the_shorter_side_and_stretch_both),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(a_large_jpeg_may_be_shrunk_while_it_is_read),
        cmocka_unit_test(what_is_no_picture_is_named),
        cmocka_unit_test(a_header_that_claims_too_much_is_not_believed),
        cmocka_unit_test(a_picture_cut_short_is_refused_wherever_it_is_cut),
        cmocka_unit_test(a_changed_byte_gives_pixels_or_a_sentence),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
