/*
 * lab/reproduce/reproduce_killamsetty.c - Killamsetty et al.: GRAD-MATCH, Gradient Matching based
 * Data Subset Selection for Efficient Deep Model Training, 2021. PB is scope=batch, WARM a warm
 * start of half.
 */
#include "lab/reproduce/reproduce.h"

#define PB      "grad-match scope=batch"
#define PB_WARM "grad-match scope=batch warm=0.5"
#define RIVALS                                                                                     \
    "grad-match,grad-match warm=0.5," PB "," PB_WARM ",craig,craig warm=0.5,craig scope=batch,"    \
    "craig scope=batch warm=0.5,glister,glister warm=0.5,adaptive-random,adaptive-random warm=0.5"
#define TO_VALIDATION                                                                              \
    "grad-match match=validation,grad-match match=validation warm=0.5,"                            \
    "grad-match scope=batch match=validation,grad-match scope=batch match=validation warm=0.5,"    \
    "craig,glister,adaptive-random"
#define SHARES "0.05,0.1,0.2,0.3"
#define BEST                                                                                       \
    "Variants of GRAD-MATCH, most of all PB with a warm start, trade accuracy for time best."
#define TRADE CULL_SHOW_SPEED | CULL_SHOW_BEST | CULL_SHOW_PARETO

// clang-format off
const cull_reproduction cull_reproduce_killamsetty[] = {
    {.name = "killamsetty2021/fig1", .title = "gains over full training, CIFAR-10, ResNet-18",
     .claim = "PB with a warm start is 7, 4.2 and 3 times faster, and as much thriftier, with "
              "10, 20 and 30 % of the data, for 2.8, 1.5 and .9 points of accuracy.",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = PB_WARM, .keep = "0.1,0.2,0.3",
     .shows = CULL_SHOW_BEST | CULL_SHOW_PHASES | CULL_SHOW_ENERGY, .seeds = 5},
    {.name = "killamsetty2021/fig1-cifar100",
     .title = "gains over full training, CIFAR-100, ResNet-18",
     .claim = "PB with a warm start is 4.8 and 3 times faster with 20 and 30 % of the data, for "
              "2.1 and .7 points of accuracy.",
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = PB_WARM, .keep = "0.2,0.3",
     .shows = CULL_SHOW_BEST | CULL_SHOW_PHASES | CULL_SHOW_ENERGY, .seeds = 5},
    {.name = "killamsetty2021/fig3a", .title = "speed-up against error, CIFAR-100", .claim = BEST,
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = RIVALS, .keep = SHARES,
     .shows = TRADE, .seeds = 5},
    {.name = "killamsetty2021/fig3b", .title = "speed-up against error, MNIST, LeNet",
     .claim = "With 1 to 10 % of MNIST the gains are largest: about 27 to 12 times faster for "
              ".35 to .05 points of accuracy.",
     .recipe = "killamsetty2021/mnist.yaml", .strategies = RIVALS, .keep = "0.01,0.03,0.05,0.1",
     .shows = TRADE, .seeds = 5},
    {.name = "killamsetty2021/fig3c", .title = "speed-up against error, CIFAR-10", .claim = BEST,
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = RIVALS, .keep = SHARES, .shows = TRADE,
     .seeds = 5},
    {.name = "killamsetty2021/fig3d", .title = "speed-up against error, SVHN", .claim = BEST,
     .recipe = "killamsetty2021/svhn.yaml", .strategies = RIVALS, .keep = SHARES, .shows = TRADE,
     .seeds = 5},
    {.name = "killamsetty2021/fig3e", .title = "speed-up against error, ImageNet",
     .kind = CULL_REPRODUCE_NOT,
     .claim = "PB with a warm start is 3 times faster with 30 % of ImageNet, for 1.3 points of "
              "accuracy.",
     .missing = "it trains on ImageNet in full size, which no reader is built for, over 350 "
                "epochs that ask for a GPU"},
    {.name = "killamsetty2021/fig3f", .title = "class imbalance, CIFAR-10",
     .claim = "With three classes in ten cut to a tenth and a clean validation set to match, "
              "GRAD-MATCH does better than the other strategies.",
     .recipe = "killamsetty2021/cifar10.yaml", .changes = "data.imbalance=0.3",
     .strategies = TO_VALIDATION, .keep = SHARES, .shows = TRADE, .seeds = 5},
    {.name = "killamsetty2021/fig3g", .title = "class imbalance, MNIST, LeNet",
     .claim = "On imbalanced MNIST GRAD-MATCH with a warm start beats even training on "
              "everything; at 30 % GLISTER is better.",
     .recipe = "killamsetty2021/mnist.yaml", .changes = "data.imbalance=0.3",
     .strategies = TO_VALIDATION, .keep = "0.05,0.1,0.3", .shows = TRADE, .seeds = 5},
    {.name = "killamsetty2021/fig3h", .title = "energy against error, CIFAR-100",
     .claim = "Energy is saved as time is.",
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = RIVALS, .keep = SHARES,
     .shows = CULL_SHOW_ENERGY | CULL_SHOW_BEST, .seeds = 5},
    {.name = "killamsetty2021/fig3i", .title = "energy against error, CIFAR-10",
     .claim = "Energy is saved as time is.",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = RIVALS, .keep = SHARES,
     .shows = CULL_SHOW_ENERGY | CULL_SHOW_BEST, .seeds = 5},
    {.name = "killamsetty2021/fig3j", .title = "accuracy against time, 30 % of CIFAR-100",
     .claim = "GRAD-MATCH, PB with a warm start above all, climbs faster than the others and "
              "than full training.",
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = RIVALS, .keep = "0.3",
     .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 5},
    {.name = "killamsetty2021/fig3k", .title = "longer runs, 30 % of CIFAR-100",
     .claim = "With 30 to 50 more epochs PB with a warm start reaches full training's accuracy "
              "and is still 2.5 times faster.",
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = PB_WARM, .keep = "0.3",
     .vary = "train.epochs=300,330,350", .shows = CULL_SHOW_BEST | CULL_SHOW_PHASES, .seeds = 5},
    {.name = "killamsetty2021/fig3l", .title = "smaller models instead, CIFAR-10",
     .claim = "Selection on ResNet-18 beats training MobileNetV1 or V2 on everything, in "
              "accuracy and in time (V2: less than twice as fast for 1 point).",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = PB_WARM, .keep = "0.1,0.3",
     .vary = "model.name=resnet18,mobilenetv1,mobilenetv2",
     .shows = CULL_SHOW_BEST | CULL_SHOW_PHASES, .seeds = 5},
    {.name = "killamsetty2021/fig4a", .title = "how often to select, 5 % of CIFAR-100",
     .claim = "Selecting every 5, 10 or 20 epochs, GRAD-MATCH is ahead of the others; more often "
              "is more accurate and slower.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match period=5,grad-match period=10,grad-match period=20,"
                   PB " period=5," PB " period=10," PB " period=20,"
                   "craig period=5,craig period=10,craig period=20,"
                   "glister period=5,glister period=10,glister period=20,"
                   "adaptive-random period=5,adaptive-random period=10,adaptive-random period=20",
     .keep = "0.05", .shows = CULL_SHOW_BEST | CULL_SHOW_PHASES, .seeds = 5},
    {.name = "killamsetty2021/fig4b", .title = "a larger subset selected less often, CIFAR-100",
     .claim = "A tenth selected every 20 epochs is as accurate as a twentieth every 5, and "
              "faster.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match period=5," PB " period=5,grad-match period=20," PB " period=20",
     .keep = "0.05,0.1", .shows = CULL_SHOW_BEST | CULL_SHOW_PHASES, .seeds = 5},
    {.name = "killamsetty2021/fig4c", .title = "whole minibatches or single examples, CIFAR-100",
     .claim = "Choosing whole minibatches takes about half the selection time at a similar error.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match," PB ",craig,craig scope=batch", .keep = SHARES,
     .shows = CULL_SHOW_BEST | CULL_SHOW_PHASES, .seeds = 5},
    {.name = "killamsetty2021/fig4d", .title = "with and without a warm start, CIFAR-100",
     .claim = "A warm start helps, most with small subsets.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match,grad-match warm=0.5," PB "," PB_WARM, .keep = SHARES,
     .shows = CULL_SHOW_BEST, .seeds = 5},
    {.name = "killamsetty2021/fig4e", .title = "more imbalanced classes, CIFAR-10",
     .claim = "With 30, 60 and 90 % of the classes cut, GRAD-MATCH with a warm start beats all, "
              "full training included.",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = TO_VALIDATION, .keep = "0.3",
     .vary = "data.imbalance=0.3,0.6,0.9", .shows = CULL_SHOW_BEST, .seeds = 5},
    {.name = "killamsetty2021/fig4f", .title = "how long a warm start, 10 % of CIFAR-100",
     .claim = "Half of the budget does best; less lacks a good start, more comes near to "
              "stopping full training early.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match scope=batch warm=0.125,grad-match scope=batch warm=0.25," PB_WARM
                   ",grad-match scope=batch warm=0.75,grad-match scope=batch warm=0.875",
     .keep = "0.1", .shows = CULL_SHOW_BEST, .seeds = 5},
    {.name = "killamsetty2021/fig4g", .title = "regularisation, 10 % of CIFAR-10",
     .claim = "Small and large lambda do worse; .5 is good across sizes and sets.",
     .recipe = "killamsetty2021/cifar10.yaml",
     .strategies = "grad-match ridge=0,grad-match ridge=0.1,grad-match ridge=0.5,"
                   "grad-match ridge=2,grad-match ridge=10",
     .keep = "0.1", .shows = CULL_SHOW_BEST, .seeds = 5},
    {.name = "killamsetty2021/wilcoxon", .title = "signed-rank test against the rivals, CIFAR-10",
     .claim = "GRAD-MATCH's lead over GLISTER, CRAIG and full training stopped early is "
              "significant by Wilcoxon's signed-rank test (p = .01).",
     .recipe = "killamsetty2021/cifar10.yaml",
     .strategies = PB_WARM ",craig warm=0.5,glister warm=0.5", .keep = "0.1,0.3",
     .shows = CULL_SHOW_BEST, .seeds = 6},
    {.name = NULL},
};
// clang-format on
