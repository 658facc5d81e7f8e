/*
 * lab/reproduce/reproduce_balles.c - Balles, Archambeau, Zappella: A Negative Result on Gradient
 * Matching for Selective Backprop, 2023.
 */
#include "lab/reproduce/reproduce.h"

#define THREE  "random,sb beta=balles,gradmatch"
#define SCALED "random mode=scaled,sb beta=balles mode=scaled,gradmatch mode=scaled"
#define RATIOS "0.1,0.3,0.5"
#define FIG1                                                                                       \
    "Gradient matching does as well as loss-based selection or better, most clearly when little "  \
    "is kept; but neither beats keeping random examples consistently."
#define FIG2                                                                                       \
    "With one label in ten drawn anew, loss-based selection loses much more than it did without; " \
    "gradient matching and random hold up."
#define FIG3                                                                                       \
    "At the start of training, gradient matching has a smaller squared error against the "         \
    "gradient of all the data than a random choice, and loss-based selection a larger one."

// clang-format off
const cull_reproduction cull_reproduce_balles[] = {
    {.name = "balles2023/fig1", .title = "accuracy against the share kept, CIFAR-10, ResNet-18",
     .claim = FIG1, .recipe = "balles2023/cifar10.yaml", .strategies = THREE, .keep = RATIOS,
     .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/fig1-cifar100",
     .title = "accuracy against the share kept, CIFAR-100, ResNet-18", .claim = FIG1,
     .recipe = "balles2023/cifar100.yaml", .strategies = THREE, .keep = RATIOS,
     .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/fig1-svhn", .title = "accuracy against the share kept, SVHN, WRN-16-4",
     .claim = FIG1, .recipe = "balles2023/svhn.yaml", .strategies = THREE, .keep = RATIOS,
     .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/fig1-imagenet32",
     .title = "accuracy against the share kept, ImageNet-32, WRN-28-2", .claim = FIG1,
     .recipe = "balles2023/imagenet32.yaml", .strategies = THREE, .keep = RATIOS,
     .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/fig1-imdb", .title = "accuracy against the share kept, IMDB, BERT",
     .kind = CULL_REPRODUCE_NOT, .claim = FIG1,
     .missing = "it fine-tunes a pretrained BERT on IMDB, and neither text data nor transformers "
                "are built"},
    {.name = "balles2023/fig2", .title = "accuracy with 10 % label noise, CIFAR-10, ResNet-18",
     .claim = FIG2, .recipe = "balles2023/cifar10.yaml",
     .changes = "data.label_noise=0.1 data.noise=redraw", .strategies = THREE, .keep = RATIOS,
     .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/fig2-cifar100",
     .title = "accuracy with 10 % label noise, CIFAR-100, ResNet-18", .claim = FIG2,
     .recipe = "balles2023/cifar100.yaml", .changes = "data.label_noise=0.1 data.noise=redraw",
     .strategies = THREE, .keep = RATIOS, .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/fig2-svhn", .title = "accuracy with 10 % label noise, SVHN, WRN-16-4",
     .claim = FIG2, .recipe = "balles2023/svhn.yaml",
     .changes = "data.label_noise=0.1 data.noise=redraw", .strategies = THREE, .keep = RATIOS,
     .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/fig3",
     .title = "squared gradient error at the start, Fashion-MNIST, LeNet-5",
     .kind = CULL_REPRODUCE_PROBE, .claim = FIG3, .recipe = "balles2023/lenet-fashion.yaml",
     .strategies = THREE, .keep = RATIOS, .shows = CULL_SHOW_GRADIENTS, .seeds = 1},
    {.name = "balles2023/fig3-cifar10",
     .title = "squared gradient error at the start, CIFAR-10, ResNet-20",
     .kind = CULL_REPRODUCE_PROBE, .claim = FIG3, .recipe = "balles2023/resnet20-cifar10.yaml",
     .strategies = THREE, .keep = RATIOS, .shows = CULL_SHOW_GRADIENTS, .seeds = 1},
    {.name = "balles2023/fig3-resnet18",
     .title = "squared gradient error at the start, CIFAR-10, ResNet-18",
     .kind = CULL_REPRODUCE_PROBE, .claim = FIG3, .recipe = "balles2023/cifar10.yaml",
     .strategies = THREE, .keep = RATIOS, .shows = CULL_SHOW_GRADIENTS, .seeds = 1},
    {.name = "balles2023/fig4", .title = "accuracy with scaled batches, CIFAR-10, ResNet-18",
     .claim = "With M = base/rho scored and the base batch trained, the picture does not change; "
              "all methods do worse on average, so that more and smaller steps are to be "
              "preferred.",
     .recipe = "balles2023/cifar10.yaml", .strategies = SCALED, .keep = RATIOS,
     .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/fig5",
     .title = "accuracy against the stretch of rate and epochs, CIFAR-10",
     .claim = "With rate and epochs tuned for each method (rate times s, epochs over s), the "
              "ranking stays: neither selection beats random.",
     .recipe = "balles2023/cifar10.yaml", .strategies = THREE, .keep = "0.3",
     .vary = "schedule.stretch=0.1,0.316,1,3.16,10", .shows = CULL_SHOW_BEST, .seeds = 3},
    {.name = "balles2023/table1", .title = "seconds an epoch, CIFAR-10, ResNet-18",
     .kind = CULL_REPRODUCE_TIME,
     .claim = "On their GPU an epoch of gradient matching takes 20.70, 27.41 and 36.74 s at a "
              "share of .1, .3 and .5, one of loss-based selection 19.69, 26.77 and 35.68 s: "
              "5.1, 2.4 and 3.0 % more (\"less than 5 %\" in their words).",
     .recipe = "balles2023/cifar10.yaml", .strategies = "gradmatch,sb beta=balles", .keep = RATIOS,
     .shows = CULL_SHOW_PHASES, .seeds = 1},
    {.name = "balles2023/table1-cifar100", .title = "seconds an epoch, CIFAR-100, ResNet-18",
     .kind = CULL_REPRODUCE_TIME,
     .claim = "On their GPU an epoch of gradient matching takes 20.37, 27.05 and 36.28 s at a "
              "share of .1, .3 and .5, one of loss-based selection 19.95, 26.56 and 35.21 s.",
     .recipe = "balles2023/cifar100.yaml", .strategies = "gradmatch,sb beta=balles", .keep = RATIOS,
     .shows = CULL_SHOW_PHASES, .seeds = 1},
    {.name = NULL},
};
// clang-format on
