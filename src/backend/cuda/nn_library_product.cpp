/*
 * backend/cuda/nn_library_product.cpp - products of matrices by cuBLASLt, column by column as it
 * has them: D = A B [+ D] [+ bias].
 */
#include <cublasLt.h>

#include "backend/cuda/nn_library.hpp"

#include <cstdio>
#include <cstring>
#include <new>

enum { MOST = 16, BORDER = 16 };

struct product_plan : cull_plan {
    cublasLtMatmulDesc_t   how = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
    cublasLtMatmulAlgo_t   algorithm;

    ~product_plan() override
    {
        if (d) (void)cublasLtMatrixLayoutDestroy(d);
        if (b) (void)cublasLtMatrixLayoutDestroy(b);
        if (a) (void)cublasLtMatrixLayoutDestroy(a);
        if (how) (void)cublasLtMatmulDescDestroy(how);
    }
};

static cudaDataType_t type_of(cull_dtype dtype)
{
    if (dtype == CULL_F64) return CUDA_R_64F;
    return dtype == CULL_F32 ? CUDA_R_32F : CUDA_R_16BF;
}

static cull_status make_layout(cublasLtMatrixLayout_t *out, cull_dtype dtype, int64_t rows,
                               int64_t columns, bool turned)
{
    uint64_t down = static_cast<uint64_t>(turned ? columns : rows);
    uint64_t across = static_cast<uint64_t>(turned ? rows : columns);

    BLAS(cublasLtMatrixLayoutCreate(out, type_of(dtype), down, across,
                                    static_cast<int64_t>(down)));
    return CULL_OK;
}

static cull_status describe(product_plan *plan, const cull_product_problem *p)
{
    cublasComputeType_t compute = p->values == CULL_F32 && p->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                   : CUBLAS_COMPUTE_32F;
    cublasOperation_t   turn = CUBLAS_OP_T;
    cublasLtEpilogue_t  bias = CUBLASLT_EPILOGUE_BIAS;
    const void         *somewhere = plan; /* heuristics want to see an address; none is read */

    BLAS(cublasLtMatmulDescCreate(&plan->how, compute, CUDA_R_32F));
    if (p->turned_a)
        BLAS(cublasLtMatmulDescSetAttribute(plan->how, CUBLASLT_MATMUL_DESC_TRANSA, &turn,
                                            sizeof turn));
    if (p->turned_b)
        BLAS(cublasLtMatmulDescSetAttribute(plan->how, CUBLASLT_MATMUL_DESC_TRANSB, &turn,
                                            sizeof turn));
    if (p->bias) {
        BLAS(cublasLtMatmulDescSetAttribute(plan->how, CUBLASLT_MATMUL_DESC_EPILOGUE, &bias,
                                            sizeof bias));
        BLAS(cublasLtMatmulDescSetAttribute(plan->how, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                            &somewhere, sizeof somewhere));
    }
    PASS(make_layout(&plan->a, p->values, p->rows, p->depth, p->turned_a));
    PASS(make_layout(&plan->b, p->values, p->depth, p->columns, p->turned_b));
    return make_layout(&plan->d, p->result, p->rows, p->columns, false);
}

/* What a search is told: scratch, borders, and no sums in an order of chance. */
class preference {
public:
    cublasLtMatmulPreference_t raw = nullptr;

    preference() {}
    preference(const preference &) = delete;
    preference &operator=(const preference &) = delete;
    ~preference()
    {
        if (raw) (void)cublasLtMatmulPreferenceDestroy(raw);
    }
    cull_status set(cublasLtMatmulPreferenceAttributes_t name, const void *value, size_t bytes)
    {
        BLAS(cublasLtMatmulPreferenceSetAttribute(raw, name, value, bytes));
        return CULL_OK;
    }
    cull_status make(bool repeatable)
    {
        uint64_t room = CULL_LIBRARY_ROOM;
        uint32_t border = BORDER, sums = CUBLASLT_REDUCTION_SCHEME_MASK;

        if (repeatable) sums &= ~static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_INPLACE);
        BLAS(cublasLtMatmulPreferenceCreate(&raw));
        PASS(set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room));
        PASS(set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &sums, sizeof sums));
        PASS(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &border, sizeof border));
        PASS(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &border, sizeof border));
        PASS(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &border, sizeof border));
        return set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &border, sizeof border);
    }
};

cull_status cull_library_products(cull_library *library, const cull_product_problem *problem,
                                  size_t most, cull_choice *out, size_t *count)
{
    product_plan                    plan;
    preference                      wants;
    cublasLtMatmulHeuristicResult_t found[MOST];
    int                             number = 0;

    *count = 0;
    PASS(describe(&plan, problem));
    PASS(wants.make(problem->repeatable));
    BLAS(cublasLtMatmulAlgoGetHeuristic(library->blas, plan.how, plan.a, plan.b, plan.d, plan.d,
                                        wants.raw, MOST, found, &number));
    for (int i = 0; i < number && *count < most; i++) {
        if (found[i].state != CUBLAS_STATUS_SUCCESS) continue;
        static_assert(sizeof found[i].algo == sizeof out->word, "an algorithm is eight words");
        out[*count] = cull_choice{};
        memcpy(out[*count].word, &found[i].algo, sizeof found[i].algo);
        (*count)++;
    }
    return CULL_OK;
}

static cull_status make_plan(product_plan *plan, const cull_product_problem *problem,
                             const cull_choice *choice)
{
    cublasLtMatmulHeuristicResult_t checked;
    int32_t                         number = 0;
    size_t                          bytes = 0;

    PASS(describe(plan, problem));
    memcpy(&plan->algorithm, choice->word, sizeof plan->algorithm);
    BLAS(cublasLtMatmulAlgoCheck(plan->library->blas, plan->how, plan->a, plan->b, plan->d, plan->d,
                                 &plan->algorithm, &checked));
    if (checked.workspaceSize > CULL_LIBRARY_ROOM)
        return cull_fail(CULL_UNSUPPORTED, "cuBLASLt wants %zu bytes of scratch",
                         checked.workspaceSize);
    plan->room = checked.workspaceSize;
    BLAS(cublasLtMatmulAlgoConfigGetAttribute(&plan->algorithm, CUBLASLT_ALGO_CONFIG_ID, &number,
                                              sizeof number, &bytes));
    (void)snprintf(plan->name, sizeof plan->name, "cublaslt %d", number);
    return CULL_OK;
}

cull_status cull_library_product(cull_library *library, const cull_product_problem *problem,
                                 const cull_choice *choice, cull_plan **out)
{
    void         *room = nullptr;
    product_plan *plan = nullptr;
    cull_status   status = cull_base_alloc(1, sizeof *plan, "a plan of cuBLASLt", &room);

    *out = nullptr;
    if (status != CULL_OK) return status;
    plan = new (room) product_plan();
    plan->library = library;
    status = make_plan(plan, problem, choice);
    if (status == CULL_OK)
        *out = plan;
    else
        cull_plan_destroy(plan);
    return status;
}

cull_status cull_plan_product(const cull_plan *given, cudaStream_t stream, const void *a,
                              const void *b, const void *bias, void *d, bool add, void *room)
{
    const product_plan *plan = static_cast<const product_plan *>(given);
    float               alpha = 1, beta = add ? 1 : 0;

    if (bias)
        BLAS(cublasLtMatmulDescSetAttribute(plan->how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                            sizeof bias));
    BLAS(cublasLtMatmul(plan->library->blas, plan->how, &alpha, a, plan->a, b, plan->b, &beta, d,
                        plan->d, d, plan->d, &plan->algorithm, room, plan->room, stream));
    return CULL_OK;
}
