/*
 * backend/cpu/product_body.h - C = A B^T and y = A x for one element type; kernels_product.c
 * includes it once for float and once for double.
 *
 * REAL is the type, VECTOR a vector of WIDTH of it, NAME(x) the name x takes, load and
 * load_part read WIDTH or fewer elements (zeros behind them), sum4 adds up four vectors;
 * widen and widen_part read as many as a vector of doubles holds.
 *
 * A tile of ROWS x 4 dot products is kept in registers, every one a vector of partial sums
 * along k. Element (i, j) is the sum over blocks of BLOCK along k, each summed in the same
 * order wherever the tile lies: tiles that hang over an edge repeat the last row and drop
 * what they computed for it.
 */

/* Sizes that keep a panel of A and a tile of B in the first cache, a block of B in the second. */
enum {
    NAME(BLOCK) = CULL_PRODUCT_BLOCK * sizeof(double) / sizeof(REAL), /* along k */
    NAME(PANEL) = 2 * ROWS,                                           /* rows of A at a time     */
    NAME(REACH) = 128                                                 /* rows of B at a time     */
};

static inline void NAME(tile)(size_t k, const REAL *const a[ROWS], const REAL *const b[4],
                              REAL sum[ROWS][4])
{
    VECTOR acc[ROWS][4] = {{{0}}}, x[ROWS];
    size_t l = 0;

    for (; l + WIDTH <= k; l += WIDTH) {
        for (int i = 0; i < ROWS; i++) x[i] = NAME(load)(a[i] + l);
        for (int j = 0; j < 4; j++) {
            VECTOR y = NAME(load)(b[j] + l);
            for (int i = 0; i < ROWS; i++) acc[i][j] += x[i] * y;
        }
    }
    if (l < k) {
        for (int i = 0; i < ROWS; i++) x[i] = NAME(load_part)(a[i] + l, k - l);
        for (int j = 0; j < 4; j++) {
            VECTOR y = NAME(load_part)(b[j] + l, k - l);
            for (int i = 0; i < ROWS; i++) acc[i][j] += x[i] * y;
        }
    }
    for (int i = 0; i < ROWS; i++) NAME(sum4)(acc[i][0], acc[i][1], acc[i][2], acc[i][3], sum[i]);
}

/* One tile into C, or onto it for all blocks of k but the first; m, n rows of A and B left. */
static inline void NAME(multiply_tile)(size_t m, size_t n, size_t k, const REAL *a, size_t lda,
                                       const REAL *b, size_t ldb, bool add, REAL *c, size_t ldc)
{
    const REAL *rows_a[ROWS], *rows_b[4];
    REAL        sum[ROWS][4];

    if (m > ROWS) m = ROWS;
    if (n > 4) n = 4;
    for (size_t i = 0; i < ROWS; i++) rows_a[i] = a + (i < m ? i : m - 1) * lda;
    for (size_t j = 0; j < 4; j++) rows_b[j] = b + (j < n ? j : n - 1) * ldb;
    NAME(tile)(k, rows_a, rows_b, sum);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            c[i * ldc + j] = add ? c[i * ldc + j] + sum[i][j] : sum[i][j];
}

static void NAME(multiply_panel)(size_t m, size_t n, size_t k, const REAL *a, size_t lda,
                                 const REAL *b, size_t ldb, bool add, REAL *c, size_t ldc)
{
    for (size_t j = 0; j < n; j += 4)
        for (size_t i = 0; i < m; i += ROWS) NAME(multiply_tile)
    (m - i, n - j, k, a + i * lda, lda, b + j * ldb, ldb, add, c + i * ldc + j, ldc);
}

/* Onto C, or into it. */
static inline void NAME(multiply_blocks)(size_t m, size_t n, size_t k, const REAL *a, size_t lda,
                                         const REAL *b, size_t ldb, bool add, REAL *c, size_t ldc)
{
    size_t l = 0;

    do {
        size_t depth = k - l < NAME(BLOCK) ? k - l : NAME(BLOCK);
        for (size_t j = 0; j < n; j += NAME(REACH)) {
            size_t wide = n - j < NAME(REACH) ? n - j : NAME(REACH);
            for (size_t i = 0; i < m; i += NAME(PANEL)) {
                size_t high = m - i < NAME(PANEL) ? m - i : NAME(PANEL);
                NAME(multiply_panel)
                (high, wide, depth, a + i * lda + l, lda, b + j * ldb + l, ldb, add || l > 0,
                 c + i * ldc + j, ldc);
            }
        }
        l += depth;
    } while (l < k);
}

static void NAME(multiply)(size_t m, size_t n, size_t k, const REAL *a, size_t lda, const REAL *b,
                           size_t ldb, REAL *c, size_t ldc)
{
    NAME(multiply_blocks)(m, n, k, a, lda, b, ldb, false, c, ldc);
}

/* y (4) = 4 rows of A times x, each row in two sums so that additions need not wait. */
static inline void NAME(apply_tile)(size_t k, const REAL *const a[4], const double *x, double y[4])
{
    doubles even[4] = {{0}}, odd[4] = {{0}};
    size_t  l = 0;

    for (; l + 2 * DOUBLES <= k; l += 2 * DOUBLES) {
        doubles x0 = load_f64(x + l), x1 = load_f64(x + l + DOUBLES);
        for (int i = 0; i < 4; i++) {
            even[i] += NAME(widen)(a[i] + l) * x0;
            odd[i] += NAME(widen)(a[i] + l + DOUBLES) * x1;
        }
    }
    for (; l < k; l += DOUBLES) {
        size_t  part = k - l < DOUBLES ? k - l : DOUBLES;
        doubles x0 = load_part_f64(x + l, part);
        for (int i = 0; i < 4; i++) even[i] += NAME(widen_part)(a[i] + l, part) * x0;
    }
    sum4_f64(even[0] + odd[0], even[1] + odd[1], even[2] + odd[2], even[3] + odd[3], y);
}

static void NAME(apply)(size_t m, size_t k, const REAL *a, size_t lda, const double *x, double *y)
{
    for (size_t i = 0; i < m; i += 4) {
        size_t      rows = m - i < 4 ? m - i : 4;
        const REAL *row[4];
        double      sum[4];

        for (size_t j = 0; j < 4; j++) row[j] = a + (i + (j < rows ? j : rows - 1)) * lda;
        NAME(apply_tile)(k, row, x, sum);
        for (size_t j = 0; j < rows; j++) y[i + j] = sum[j];
    }
}
