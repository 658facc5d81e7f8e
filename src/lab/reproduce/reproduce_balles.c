/*
 * lab/reproduce/reproduce_balles.c - Balles, Archambeau, Zappella: A Negative Result on Gradient
 * Matching for Selective Backprop, 2023.
 */
#include "lab/reproduce/reproduce.h"

#define SB     "sb beta=balles"
#define THREE  "random," SB ",gradmatch"
#define SCALED "random mode=scaled,sb beta=balles mode=scaled,gradmatch mode=scaled"
#define RATIOS "0.1,0.3,0.5"
#define NOISE  "data.label_noise=0.1 data.noise=redraw"
#define FIG1                                                                                       \
    "Gradient matching does as well as loss-based selection or better, most clearly when little "  \
    "is kept; but neither beats keeping random examples consistently."
#define FIG2                                                                                       \
    "With one label in ten drawn anew, loss-based selection loses much more than it did without; " \
    "gradient matching and random hold up."
#define FIG3                                                                                       \
    "At the start of training, gradient matching has a smaller squared error against the "         \
    "gradient of all the data than a random choice, and loss-based selection a larger one."
#define FIG4                                                                                       \
    "With M = base/rho scored and the base batch trained, the picture does not change; all "       \
    "methods do worse on average, so that more and smaller steps are to be preferred."
#define FIG5                                                                                       \
    "With rate and epochs tuned for each method (rate times s, epochs over s), the ranking "       \
    "stays: "                                                                                      \
    "neither selection beats random."
#define LEVELS                                                                                     \
    "The more labels are wrong, the further loss-based selection falls behind; gradient matching " \
    "stays with random."

/* Half a point is no difference. */
#define NO_WORSE(a, b)                                                                             \
    {                                                                                              \
        CULL_CLAIM_BEST, a, b, NULL, CULL_CLAIM_ABOVE, -.5, 0, 0                                   \
    }
#define NO_BETTER(a, b)                                                                            \
    {                                                                                              \
        CULL_CLAIM_BEST, a, b, NULL, CULL_CLAIM_BELOW, -.5, 0, 0                                   \
    }
#define BELOW(a, b)                                                                                \
    {                                                                                              \
        CULL_CLAIM_BEST, a, b, NULL, CULL_CLAIM_BELOW, 0, 0, 0                                     \
    }
#define RANKING                                                                                    \
    {                                                                                              \
        NO_WORSE("gradmatch", SB), NO_BETTER("gradmatch", "random"), NO_BETTER(SB, "random")       \
    }
#define RANKING_TUNED                                                                              \
    {                                                                                              \
        {CULL_CLAIM_TUNED, "gradmatch", "random", NULL, CULL_CLAIM_BELOW, -.5, 0, 0},              \
        {                                                                                          \
            CULL_CLAIM_TUNED, SB, "random", NULL, CULL_CLAIM_BELOW, -.5, 0, 0                      \
        }                                                                                          \
    }
#define RANKING_SCALED                                                                             \
    {                                                                                              \
        NO_WORSE("gradmatch mode=scaled", SB " mode=scaled"),                                      \
            NO_BETTER("gradmatch mode=scaled", "random mode=scaled"),                              \
            NO_BETTER(SB " mode=scaled", "random mode=scaled")                                     \
    }
#define NOISY                                                                                      \
    {                                                                                              \
        BELOW(SB, "random"), BELOW(SB, "gradmatch"),                                               \
        {                                                                                          \
            CULL_CLAIM_BEST, "gradmatch", "random", NULL, CULL_CLAIM_ABOVE, -1, 0, 0               \
        }                                                                                          \
    }
#define NOISIER                                                                                    \
    {                                                                                              \
        {CULL_CLAIM_BEST, SB, "random", "0.2", CULL_CLAIM_BELOW, 0, 0, 0},                         \
            {CULL_CLAIM_BEST, SB, "random", "0.4", CULL_CLAIM_BELOW, 0, 0, 0},                     \
        {                                                                                          \
            CULL_CLAIM_BEST, "gradmatch", "random", NULL, CULL_CLAIM_ABOVE, -1, 0, 0               \
        }                                                                                          \
    }
#define ERRORS                                                                                     \
    {                                                                                              \
        {CULL_CLAIM_WINS, "gradmatch", NULL, NULL, CULL_CLAIM_ABOVE, 0, 50, 0},                    \
        {                                                                                          \
            CULL_CLAIM_WINS, SB, NULL, NULL, CULL_CLAIM_BELOW, 0, 50, 0                            \
        }                                                                                          \
    }
#define EPOCH_COSTS                                                                                \
    {                                                                                              \
        {                                                                                          \
            CULL_CLAIM_BARS, "gradmatch", SB, NULL, CULL_CLAIM_BELOW, 0, 1.05, 0                   \
        }                                                                                          \
    }

/* What entries of one figure share. */
#define BY_KEEP .drawing = CULL_DRAW_BY_KEEP, .x = "share kept", .seeds = 3
#define BY_STRETCH                                                                                 \
    .drawing = CULL_DRAW_BY_VALUE, .x = "stretch of rate and epochs", .seeds = 3,                  \
    .vary = "schedule.stretch=0.1,0.316,1,3.16,10", .rule = RANKING_TUNED
#define BY_NOISE                                                                                   \
    .vary = "data.label_noise=0.05,0.1,0.2,0.4", .drawing = CULL_DRAW_BY_KEEP,                     \
    .x = "share kept; share of the labels drawn anew", .seeds = 3
#define PROBE                                                                                      \
    .kind = CULL_REPRODUCE_PROBE, .strategies = THREE, .keep = RATIOS,                             \
    .drawing = CULL_DRAW_ERRORS, .x = "squared error", .seeds = 1, .rule = ERRORS
#define TIMES                                                                                      \
    .kind = CULL_REPRODUCE_TIME, .strategies = "gradmatch," SB, .keep = RATIOS,                    \
    .drawing = CULL_DRAW_BARS, .y = "seconds an epoch", .seeds = 1, .rule = EPOCH_COSTS

// clang-format off
const cull_reproduction cull_reproduce_balles[] = {
    {.name = "balles2023/fig1", .number = "Figure 1",
     .title = "accuracy against the share kept, CIFAR-10, ResNet-18", .claim = FIG1,
     .recipe = "balles2023/cifar10.yaml", .strategies = THREE, .keep = RATIOS, BY_KEEP,
     .rule = RANKING},
    {.name = "balles2023/fig1-cifar100", .number = "Figure 1",
     .title = "accuracy against the share kept, CIFAR-100, ResNet-18", .claim = FIG1,
     .recipe = "balles2023/cifar100.yaml", .strategies = THREE, .keep = RATIOS, BY_KEEP,
     .rule = RANKING},
    {.name = "balles2023/fig1-svhn", .number = "Figure 1",
     .title = "accuracy against the share kept, SVHN, WRN-16-4", .claim = FIG1,
     .recipe = "balles2023/svhn.yaml", .strategies = THREE, .keep = RATIOS, BY_KEEP,
     .rule = RANKING},
    {.name = "balles2023/fig1-imagenet32", .number = "Figure 1",
     .title = "accuracy against the share kept, ImageNet-32, WRN-28-2", .claim = FIG1,
     .recipe = "balles2023/imagenet32.yaml", .strategies = THREE, .keep = RATIOS, BY_KEEP,
     .rule = RANKING},
    {.name = "balles2023/fig1-imdb", .number = "Figure 1",
     .title = "accuracy against the share kept, IMDB, BERT", .claim = FIG1,
     .recipe = "balles2023/imdb.yaml", .strategies = THREE, .keep = RATIOS, BY_KEEP,
     .rule = RANKING},

    {.name = "balles2023/fig2", .number = "Figure 2",
     .title = "accuracy with 10 % label noise, CIFAR-10, ResNet-18", .claim = FIG2,
     .recipe = "balles2023/cifar10.yaml", .changes = NOISE, .strategies = THREE, .keep = RATIOS,
     BY_KEEP, .rule = NOISY},
    {.name = "balles2023/fig2-cifar100", .number = "Figure 2",
     .title = "accuracy with 10 % label noise, CIFAR-100, ResNet-18", .claim = FIG2,
     .recipe = "balles2023/cifar100.yaml", .changes = NOISE, .strategies = THREE, .keep = RATIOS,
     BY_KEEP, .rule = NOISY},
    {.name = "balles2023/fig2-svhn", .number = "Figure 2",
     .title = "accuracy with 10 % label noise, SVHN, WRN-16-4", .claim = FIG2,
     .recipe = "balles2023/svhn.yaml", .changes = NOISE, .strategies = THREE, .keep = RATIOS,
     BY_KEEP, .rule = NOISY},

    {.name = "balles2023/fig3", .number = "Figure 3",
     .title = "squared gradient error at the start, Fashion-MNIST, LeNet-5", .claim = FIG3,
     .recipe = "balles2023/lenet-fashion.yaml", PROBE},
    {.name = "balles2023/fig3-cifar10", .number = "Figure 3",
     .title = "squared gradient error at the start, CIFAR-10, ResNet-20", .claim = FIG3,
     .recipe = "balles2023/resnet20-cifar10.yaml", PROBE},
    {.name = "balles2023/fig3-resnet18", .number = "Figure 3",
     .title = "squared gradient error at the start, CIFAR-10, ResNet-18", .claim = FIG3,
     .recipe = "balles2023/cifar10.yaml", PROBE},
    {.name = "balles2023/fig3-cifar100", .number = "Figure 3",
     .title = "squared gradient error at the start, CIFAR-100, ResNet-18", .claim = FIG3,
     .recipe = "balles2023/cifar100.yaml", PROBE},
    {.name = "balles2023/fig3-svhn", .number = "Figure 3",
     .title = "squared gradient error at the start, SVHN, WRN-16-4", .claim = FIG3,
     .recipe = "balles2023/svhn.yaml", PROBE},

    {.name = "balles2023/table1", .number = "Table 1",
     .title = "seconds an epoch, CIFAR-10, ResNet-18",
     .claim = "On their GPU an epoch of gradient matching takes 20.70, 27.41 and 36.74 s at a "
              "share of .1, .3 and .5, one of loss-based selection 19.69, 26.77 and 35.68 s: "
              "5.1, 2.4 and 3.0 % more (\"less than 5 %\" in their words).",
     .recipe = "balles2023/cifar10.yaml", TIMES},
    {.name = "balles2023/table1-cifar100", .number = "Table 1",
     .title = "seconds an epoch, CIFAR-100, ResNet-18",
     .claim = "On their GPU an epoch of gradient matching takes 20.37, 27.05 and 36.28 s at a "
              "share of .1, .3 and .5, one of loss-based selection 19.95, 26.56 and 35.21 s.",
     .recipe = "balles2023/cifar100.yaml", TIMES},

    {.name = "balles2023/fig4", .number = "Figure 4",
     .title = "accuracy with scaled batches, CIFAR-10, ResNet-18", .claim = FIG4,
     .recipe = "balles2023/cifar10.yaml", .strategies = SCALED, .keep = RATIOS, BY_KEEP,
     .rule = RANKING_SCALED},
    {.name = "balles2023/fig4-cifar100", .number = "Figure 4",
     .title = "accuracy with scaled batches, CIFAR-100, ResNet-18", .claim = FIG4,
     .recipe = "balles2023/cifar100.yaml", .strategies = SCALED, .keep = RATIOS, BY_KEEP,
     .rule = RANKING_SCALED},
    {.name = "balles2023/fig4-svhn", .number = "Figure 4",
     .title = "accuracy with scaled batches, SVHN, WRN-16-4", .claim = FIG4,
     .recipe = "balles2023/svhn.yaml", .strategies = SCALED, .keep = RATIOS, BY_KEEP,
     .rule = RANKING_SCALED},
    {.name = "balles2023/fig4-imagenet32", .number = "Figure 4",
     .title = "accuracy with scaled batches, ImageNet-32, WRN-28-2", .claim = FIG4,
     .recipe = "balles2023/imagenet32.yaml", .strategies = SCALED, .keep = RATIOS, BY_KEEP,
     .rule = RANKING_SCALED},
    {.name = "balles2023/fig4-imdb", .number = "Figure 4",
     .title = "accuracy with scaled batches, IMDB, BERT", .claim = FIG4,
     .recipe = "balles2023/imdb.yaml", .strategies = SCALED, .keep = RATIOS, BY_KEEP,
     .rule = RANKING_SCALED},

    {.name = "balles2023/c3", .number = "Figure C.3",
     .title = "accuracy by how many labels are wrong, CIFAR-10, ResNet-18", .claim = LEVELS,
     .recipe = "balles2023/cifar10.yaml", .changes = "data.noise=redraw", .strategies = THREE,
     .keep = RATIOS, BY_NOISE, .rule = NOISIER},
    {.name = "balles2023/c3-cifar100", .number = "Figure C.3",
     .title = "accuracy by how many labels are wrong, CIFAR-100, ResNet-18", .claim = LEVELS,
     .recipe = "balles2023/cifar100.yaml", .changes = "data.noise=redraw", .strategies = THREE,
     .keep = RATIOS, BY_NOISE, .rule = NOISIER},

    {.name = "balles2023/fig5", .number = "Figure 5",
     .title = "accuracy against the stretch of rate and epochs, CIFAR-10", .claim = FIG5,
     .recipe = "balles2023/cifar10.yaml", .strategies = THREE, .keep = "0.3", BY_STRETCH},
    {.name = "balles2023/fig5-keep10", .number = "Figure 5",
     .title = "the same with a tenth kept, CIFAR-10", .claim = FIG5,
     .recipe = "balles2023/cifar10.yaml", .strategies = THREE, .keep = "0.1", BY_STRETCH},
    {.name = "balles2023/fig5-keep50", .number = "Figure 5",
     .title = "the same with half kept, CIFAR-10", .claim = FIG5,
     .recipe = "balles2023/cifar10.yaml", .strategies = THREE, .keep = "0.5", BY_STRETCH},
    {.name = "balles2023/fig5-cifar100", .number = "Figure 5",
     .title = "accuracy against the stretch of rate and epochs, CIFAR-100", .claim = FIG5,
     .recipe = "balles2023/cifar100.yaml", .strategies = THREE, .keep = "0.3", BY_STRETCH},
    {.name = "balles2023/fig5-svhn", .number = "Figure 5",
     .title = "accuracy against the stretch of rate and epochs, SVHN", .claim = FIG5,
     .recipe = "balles2023/svhn.yaml", .strategies = THREE, .keep = "0.3", BY_STRETCH},
    {.name = NULL},
};
// clang-format on
