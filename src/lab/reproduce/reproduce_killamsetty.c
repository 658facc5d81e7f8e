/*
 * lab/reproduce/reproduce_killamsetty.c - Killamsetty et al.: GRAD-MATCH, Gradient Matching based
 * Data Subset Selection for Efficient Deep Model Training, 2021. PB is scope=batch, WARM a warm
 * start of half. FULL-EARLYSTOP is read off full training's course: "full-earlystop" in a claim.
 */
#include "lab/reproduce/reproduce.h"

#define PB      "grad-match scope=batch"
#define PB_WARM "grad-match scope=batch warm=0.5"
#define RIVALS                                                                                     \
    "grad-match,grad-match warm=0.5," PB "," PB_WARM ",craig,craig warm=0.5,craig scope=batch,"    \
    "craig scope=batch warm=0.5,glister,glister warm=0.5,adaptive-random,adaptive-random warm=0.5"
#define GM_VALIDATION "grad-match match=validation warm=0.5"
#define TO_VALIDATION                                                                              \
    "grad-match match=validation," GM_VALIDATION ",grad-match scope=batch match=validation,"       \
    "grad-match scope=batch match=validation warm=0.5,craig,glister,adaptive-random"
#define SHARES "0.05,0.1,0.2,0.3"
#define BEST                                                                                       \
    "Variants of GRAD-MATCH, most of all PB with a warm start, trade accuracy for time best."
#define THRIFT "Energy is saved as time is."
#define IMBALANCE                                                                                  \
    "With three classes in ten cut to a tenth and a clean validation set to match, GRAD-MATCH "    \
    "does better than the other strategies."
#define RIDGES "Small and large lambda do worse; .5 is good across sizes and sets."

#define ABOVE(a, b)                                                                                \
    {                                                                                              \
        CULL_CLAIM_END, a, b, NULL, CULL_CLAIM_ABOVE, 0, 0, 0                                      \
    }
#define LEADS                                                                                      \
    {                                                                                              \
        ABOVE(PB_WARM, "adaptive-random warm=0.5"), ABOVE(PB_WARM, "craig warm=0.5"),              \
            ABOVE(PB_WARM, "glister warm=0.5"), ABOVE(PB_WARM, "full-earlystop")                   \
    }
/* So many times as fast, or nearly, for so many points. */
#define FAST(at, by, margin)                                                                       \
    {                                                                                              \
        CULL_CLAIM_SPEED, PB_WARM, NULL, at, CULL_CLAIM_ABOVE, -(margin), by, 0                    \
    }
#define LOSES(at, points)                                                                          \
    {                                                                                              \
        CULL_CLAIM_END, PB_WARM, "full", at, CULL_CLAIM_ABOVE, -(points), 0, 0                     \
    }
#define THRIFTY(at, by, margin)                                                                    \
    {                                                                                              \
        CULL_CLAIM_ENERGY, PB_WARM, NULL, at, CULL_CLAIM_ABOVE, -(margin), by, 0                   \
    }
#define BALANCED                                                                                   \
    {                                                                                              \
        ABOVE(GM_VALIDATION, "craig"), ABOVE(GM_VALIDATION, "glister"),                            \
            ABOVE(GM_VALIDATION, "adaptive-random")                                                \
    }
#define RANKED(b)                                                                                  \
    {                                                                                              \
        CULL_CLAIM_RANKS, PB_WARM, b, NULL, CULL_CLAIM_ABOVE, 0, .01, 0                            \
    }

#define SCATTER .keep = SHARES, .drawing = CULL_DRAW_SPEEDUP, .seeds = 5
#define SWEEP   .drawing = CULL_DRAW_BY_VALUE, .seeds = 5

// clang-format off
const cull_reproduction cull_reproduce_killamsetty[] = {
    {.name = "killamsetty2021/fig1", .number = "Figure 1",
     .title = "gains over full training, CIFAR-10, ResNet-18",
     .claim = "PB with a warm start is 7, 4.2 and 3 times faster, and as much thriftier, with "
              "10, 20 and 30 % of the data, for 2.8, 1.5 and .9 points of accuracy.",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = PB_WARM, .keep = "0.1,0.2,0.3",
     .drawing = CULL_DRAW_SPEEDUP, .seeds = 5,
     .rule = {FAST("0.1", 7, 2), LOSES("0.1", 3.3), FAST("0.3", 3, .75), LOSES("0.3", 1.4)}},
    {.name = "killamsetty2021/fig1-cifar100", .number = "Figure 1",
     .title = "gains over full training, CIFAR-100, ResNet-18",
     .claim = "PB with a warm start is 4.8 and 3 times faster with 20 and 30 % of the data, for "
              "2.1 and .7 points of accuracy.",
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = PB_WARM, .keep = "0.2,0.3",
     .drawing = CULL_DRAW_SPEEDUP, .seeds = 5,
     .rule = {FAST("0.2", 4.8, 1.2), LOSES("0.2", 2.6), FAST("0.3", 3, .75), LOSES("0.3", 1.2)}},

    {.name = "killamsetty2021/fig3a", .number = "Figure 3a",
     .title = "speed-up against error, CIFAR-100", .claim = BEST,
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = RIVALS, SCATTER, .rule = LEADS},
    {.name = "killamsetty2021/fig3b", .number = "Figure 3b",
     .title = "speed-up against error, MNIST, LeNet",
     .claim = "With 1 to 10 % of MNIST the gains are largest: about 27 to 12 times faster for "
              ".35 to .05 points of accuracy.",
     .recipe = "killamsetty2021/mnist.yaml", .strategies = RIVALS, .keep = "0.01,0.03,0.05,0.1",
     .drawing = CULL_DRAW_SPEEDUP, .seeds = 5,
     .rule = {FAST("0.01", 27, 7), LOSES("0.01", .5), FAST("0.1", 12, 3), LOSES("0.1", .2)}},
    {.name = "killamsetty2021/fig3c", .number = "Figure 3c",
     .title = "speed-up against error, CIFAR-10", .claim = BEST,
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = RIVALS, SCATTER, .rule = LEADS},
    {.name = "killamsetty2021/fig3d", .number = "Figure 3d",
     .title = "speed-up against error, SVHN", .claim = BEST,
     .recipe = "killamsetty2021/svhn.yaml", .strategies = RIVALS, SCATTER, .rule = LEADS},
    {.name = "killamsetty2021/fig3e", .number = "Figure 3e",
     .title = "speed-up against error, ImageNet", .kind = CULL_REPRODUCE_NOT,
     .drawing = CULL_DRAW_SPEEDUP,
     .claim = "PB with a warm start is 3 times faster with 30 % of ImageNet, for 1.3 points of "
              "accuracy.",
     .missing = "it trains on ImageNet in full size over 350 epochs, for which there is no recipe "
                "and no set here"},
    {.name = "killamsetty2021/fig3f", .number = "Figure 3f", .title = "class imbalance, CIFAR-10",
     .claim = IMBALANCE, .recipe = "killamsetty2021/cifar10.yaml", .changes = "data.imbalance=0.3",
     .strategies = TO_VALIDATION, SCATTER, .rule = BALANCED},
    {.name = "killamsetty2021/fig3g", .number = "Figure 3g",
     .title = "class imbalance, MNIST, LeNet",
     .claim = "On imbalanced MNIST GRAD-MATCH with a warm start beats even training on "
              "everything; at 30 % GLISTER is better.",
     .recipe = "killamsetty2021/mnist.yaml", .changes = "data.imbalance=0.3",
     .strategies = TO_VALIDATION, .keep = "0.05,0.1,0.3", .drawing = CULL_DRAW_SPEEDUP,
     .seeds = 5,
     .rule = {ABOVE(GM_VALIDATION, "full"),
              {CULL_CLAIM_END, "glister", GM_VALIDATION, "0.3", CULL_CLAIM_ABOVE, 0, 0, 0}}},
    {.name = "killamsetty2021/fig3h", .number = "Figure 3h",
     .title = "energy against error, CIFAR-100", .claim = THRIFT,
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = RIVALS, .keep = SHARES,
     .drawing = CULL_DRAW_ENERGY, .seeds = 5,
     .rule = {THRIFTY("0.2", 4.8, 1.2), THRIFTY("0.3", 3, .75)}},
    {.name = "killamsetty2021/fig3i", .number = "Figure 3i",
     .title = "energy against error, CIFAR-10", .claim = THRIFT,
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = RIVALS, .keep = SHARES,
     .drawing = CULL_DRAW_ENERGY, .seeds = 5,
     .rule = {THRIFTY("0.1", 7, 2), THRIFTY("0.3", 3, .75)}},
    {.name = "killamsetty2021/fig3j", .number = "Figure 3j",
     .title = "accuracy against time, 30 % of CIFAR-100",
     .claim = "GRAD-MATCH, PB with a warm start above all, climbs faster than the others and "
              "than full training.",
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = RIVALS, .keep = "0.3",
     .drawing = CULL_DRAW_COURSE, .seeds = 5,
     .rule = {{CULL_CLAIM_SOONER, PB_WARM, NULL, NULL, CULL_CLAIM_ABOVE, 0, 1, 1.2},
              {CULL_CLAIM_SOONER, PB_WARM, "craig warm=0.5", NULL, CULL_CLAIM_ABOVE, 0, 0, 1.2},
              {CULL_CLAIM_SOONER, PB_WARM, "glister warm=0.5", NULL, CULL_CLAIM_ABOVE, 0, 0, 1.2}}},
    {.name = "killamsetty2021/fig3k", .number = "Figure 3k",
     .title = "longer runs, 30 % of CIFAR-100",
     .claim = "With 30 to 50 more epochs PB with a warm start reaches full training's accuracy "
              "and is still 2.5 times faster.",
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = PB_WARM, .keep = "0.3",
     .vary = "train.epochs=300,330,350", .full_once = true, .x = "epochs", SWEEP,
     .rule = {{CULL_CLAIM_END, PB_WARM, "full", "350", CULL_CLAIM_ABOVE, -.25, 0, 0},
              FAST("330", 2.5, .5), FAST("350", 2.5, .5)}},
    {.name = "killamsetty2021/fig3l", .number = "Figure 3l",
     .title = "smaller models instead, CIFAR-10",
     .claim = "Selection on ResNet-18 beats training MobileNetV1 or V2 on everything, in "
              "accuracy and in time (V2: less than twice as fast for 1 point).",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = PB_WARM, .keep = "0.1,0.3",
     .vary = "model.name=resnet18,mobilenetv1,mobilenetv2", .picks_once = true, .x = "network",
     SWEEP,
     .rule = {{CULL_CLAIM_END, PB_WARM " keep=0.3", "full@mobilenetv1", NULL, CULL_CLAIM_ABOVE, 0,
               0, 0},
              {CULL_CLAIM_END, PB_WARM " keep=0.3", "full@mobilenetv2", NULL, CULL_CLAIM_ABOVE, 0,
               0, 0},
              {CULL_CLAIM_SPEED, PB_WARM " keep=0.3", NULL, NULL, CULL_CLAIM_ABOVE, 0, 2, 0}}},

    {.name = "killamsetty2021/fig4a", .number = "Figure 4a",
     .title = "how often to select, 5 % of CIFAR-100",
     .claim = "Selecting every 5, 10 or 20 epochs, GRAD-MATCH is ahead of the others; more often "
              "is more accurate and slower.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match," PB ",craig,glister,adaptive-random", .keep = "0.05",
     .vary = "select.period=5,10,20", .drawing = CULL_DRAW_SPEEDUP, .seeds = 5,
     .rule = {ABOVE("grad-match", "craig"), ABOVE("grad-match", "glister"),
              {CULL_CLAIM_END, "grad-match", "grad-match@20", "5", CULL_CLAIM_ABOVE, 0, 0, 0},
              {CULL_CLAIM_SPEED, "grad-match", "grad-match@20", "5", CULL_CLAIM_BELOW, 0, 0, 0}}},
    {.name = "killamsetty2021/fig4b", .number = "Figure 4b",
     .title = "a larger subset selected less often, CIFAR-100",
     .claim = "A tenth selected every 20 epochs is as accurate as a twentieth every 5, and "
              "faster.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match period=5 keep=0.05," PB " period=5 keep=0.05,"
                   "grad-match period=20 keep=0.1," PB " period=20 keep=0.1",
     .drawing = CULL_DRAW_SPEEDUP, .seeds = 5,
     .rule = {{CULL_CLAIM_END, "grad-match period=20 keep=0.1", "grad-match period=5 keep=0.05",
               NULL, CULL_CLAIM_ABOVE, -.5, 0, 0},
              {CULL_CLAIM_SPEED, "grad-match period=20 keep=0.1", "grad-match period=5 keep=0.05",
               NULL, CULL_CLAIM_ABOVE, 0, 0, 0}}},
    {.name = "killamsetty2021/fig4c", .number = "Figure 4c",
     .title = "whole minibatches or single examples, CIFAR-100",
     .claim = "Choosing whole minibatches takes about half the selection time at a similar error.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match," PB ",craig,craig scope=batch", SCATTER,
     .rule = {{CULL_CLAIM_END, PB, "grad-match", NULL, CULL_CLAIM_ABOVE, -1, 0, 0},
              {CULL_CLAIM_SPEED, PB, "grad-match", NULL, CULL_CLAIM_ABOVE, 0, 0, 0}}},
    {.name = "killamsetty2021/fig4d", .number = "Figure 4d",
     .title = "with and without a warm start, CIFAR-100",
     .claim = "A warm start helps, most with small subsets.",
     .recipe = "killamsetty2021/cifar100.yaml",
     .strategies = "grad-match,grad-match warm=0.5," PB "," PB_WARM, SCATTER,
     .rule = {ABOVE("grad-match warm=0.5", "grad-match"), ABOVE(PB_WARM, PB)}},
    {.name = "killamsetty2021/fig4e", .number = "Figure 4e",
     .title = "more imbalanced classes, CIFAR-10",
     .claim = "With 30, 60 and 90 % of the classes cut, GRAD-MATCH with a warm start beats all, "
              "full training included.",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = TO_VALIDATION, .keep = "0.3",
     .vary = "data.imbalance=0.3,0.6,0.9", .x = "share of the classes that are cut", SWEEP,
     .rule = {ABOVE(GM_VALIDATION, "full"), ABOVE(GM_VALIDATION, "craig"),
              ABOVE(GM_VALIDATION, "glister"), ABOVE(GM_VALIDATION, "adaptive-random")}},
    {.name = "killamsetty2021/fig4e-keep10", .number = "Figure 4e",
     .title = "the same with a tenth kept, as the text has it, CIFAR-10",
     .claim = "With 30, 60 and 90 % of the classes cut, GRAD-MATCH with a warm start beats all, "
              "full training included.",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = TO_VALIDATION, .keep = "0.1",
     .vary = "data.imbalance=0.3,0.6,0.9", .x = "share of the classes that are cut", SWEEP,
     .rule = {ABOVE(GM_VALIDATION, "full"), ABOVE(GM_VALIDATION, "craig"),
              ABOVE(GM_VALIDATION, "glister"), ABOVE(GM_VALIDATION, "adaptive-random")}},
    {.name = "killamsetty2021/degree", .number = "Section 5",
     .title = "how far imbalanced classes are cut, CIFAR-10",
     .claim = "The trend is similar when the degree of imbalance is varied.",
     .recipe = "killamsetty2021/cifar10.yaml", .changes = "data.imbalance=0.3",
     .strategies = TO_VALIDATION, .keep = "0.3", .vary = "data.imbalance_keep=0.05,0.1,0.2,0.5",
     .x = "share left of a class that is cut", SWEEP, .rule = BALANCED},
    {.name = "killamsetty2021/fig4f", .number = "Figure 4f",
     .title = "how long a warm start, 10 % of CIFAR-100",
     .claim = "Half of the budget does best; less lacks a good start, more comes near to "
              "stopping full training early.",
     .recipe = "killamsetty2021/cifar100.yaml", .strategies = PB, .keep = "0.1",
     .vary = "select.warm=0.125,0.25,0.5,0.75,0.875", .x = "warm share", SWEEP,
     .rule = {{CULL_CLAIM_END, PB, PB "@0.125", "0.5", CULL_CLAIM_ABOVE, 0, 0, 0},
              {CULL_CLAIM_END, PB, PB "@0.875", "0.5", CULL_CLAIM_ABOVE, 0, 0, 0}}},
    {.name = "killamsetty2021/fig4g", .number = "Figure 4g",
     .title = "regularisation as the paper has it, 10 % of CIFAR-10", .claim = RIDGES,
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = "grad-match,grad-match warm=0.5," PB
     "," PB_WARM, .keep = "0.1",
     .vary = "select.ridge=absolute:0,absolute:0.1,absolute:0.5,absolute:1,absolute:10",
     .x = "lambda", SWEEP,
     .rule = {{CULL_CLAIM_END, "grad-match", "grad-match@absolute:0", "absolute:0.5",
               CULL_CLAIM_ABOVE, 0, 0, 0},
              {CULL_CLAIM_END, "grad-match", "grad-match@absolute:10", "absolute:0.5",
               CULL_CLAIM_ABOVE, 0, 0, 0}}},
    {.name = "killamsetty2021/fig4g-relative", .number = "Figure 4g",
     .title = "regularisation by the mean squared gradient, 10 % of CIFAR-10", .claim = RIDGES,
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = "grad-match", .keep = "0.1",
     .vary = "select.ridge=0,0.1,0.5,2,10", .x = "lambda, relative", SWEEP,
     .rule = {{CULL_CLAIM_END, "grad-match", "grad-match@0", "0.5", CULL_CLAIM_ABOVE, 0, 0, 0},
              {CULL_CLAIM_END, "grad-match", "grad-match@10", "0.5", CULL_CLAIM_ABOVE, 0, 0, 0}}},
    {.name = "killamsetty2021/epsilon", .number = "Section 5",
     .title = "when the pursuit stops, 10 % of CIFAR-10",
     .claim = "Epsilon hardly matters as long as it is small (at most .01).",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = "grad-match," PB, .keep = "0.1",
     .vary = "select.tolerance=0.0001,0.001,0.01,0.1", .x = "epsilon, relative", SWEEP,
     .rule = {{CULL_CLAIM_END, "grad-match", "grad-match@0.0001", "0.01", CULL_CLAIM_WITHIN, .5, 0,
               0}}},
    {.name = "killamsetty2021/wilcoxon", .number = "Section 5",
     .title = "signed-rank test against the rivals, CIFAR-10",
     .claim = "GRAD-MATCH's lead over GLISTER, CRAIG and full training stopped early is "
              "significant by Wilcoxon's signed-rank test (p = .01).",
     .recipe = "killamsetty2021/cifar10.yaml", .strategies = RIVALS, .keep = SHARES,
     .drawing = CULL_DRAW_RANKS, .seeds = 5,
     .rule = {RANKED("craig warm=0.5"), RANKED("glister warm=0.5"), RANKED("full-earlystop")}},
    {.name = NULL},
};
// clang-format on
