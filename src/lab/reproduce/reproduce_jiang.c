/*
 * lab/reproduce/reproduce_jiang.c - Jiang et al.: Accelerating Deep Learning by Focusing on the
 * Biggest Losers, 2019. Kept shares of 33, 50 and 25 % are exponents of 2, 1 and 3; their Kath18
 * draws by loss, without weights, and keeps 33 % (CIFAR-100: 50 %).
 */
#include "lab/reproduce/reproduce.h"

#define KATH      "kath18 score=loss weights=unit" /* keeps what .keep says, others by beta */
#define SB1       "sb-stream beta=1"
#define SB2       "sb-stream beta=2"
#define SB3       "sb-stream beta=3"
#define STALE1    "sb-stream stale beta=1 stale-every=3"
#define STALE2    "sb-stream stale beta=2 stale-every=3"
#define STALE3    "sb-stream stale beta=3 stale-every=3"
#define TEN       SB2 "," STALE2 "," KATH
#define HUNDRED   SB1 "," STALE1 "," KATH
#define DIGITS    SB3 "," STALE3 "," KATH
#define GROUPS    "full=Traditional,sb-stream=SB and Stale-SB,kath18=Kath18"
#define ITERATION "Selective-Backprop reaches almost every test error with fewer updates."
#define TIME                                                                                       \
    "Selective-Backprop reaches target errors sooner on the clock, and reusing losses sooner "     \
    "still."
#define PHASES                                                                                     \
    "Selective-Backprop saves backward time; more than half of what is left is forward passes, "   \
    "of which losses reused for two of three epochs save two thirds of those that only select."
#define STALENESS                                                                                  \
    "Scoring only every second or third epoch saves forward passes and hardly changes the final "  \
    "error."
#define SCHEDULE "With the rate cut earlier the gains are the same."
#define STATIC   "With a rate that never changes the gains are the same."
#define BATCH64  "With batches of 64 the trends are the same."

/* Sooner than full training, by updates or on the clock. */
#define FEWER(a, t)                                                                                \
    {                                                                                              \
        CULL_CLAIM_UPDATES, a, NULL, NULL, CULL_CLAIM_ABOVE, 0, 1, t                               \
    }
#define SOONER(a, t)                                                                               \
    {                                                                                              \
        CULL_CLAIM_SOONER, a, NULL, NULL, CULL_CLAIM_ABOVE, 0, 1, t                                \
    }
#define AHEAD(a, b, t)                                                                             \
    {                                                                                              \
        CULL_CLAIM_SOONER, a, b, NULL, CULL_CLAIM_ABOVE, 0, 0, t                                   \
    }
#define FEW_UPDATES(sb)                                                                            \
    {                                                                                              \
        FEWER(sb, 1.2), FEWER(sb, 1.4), FEWER(sb, 2)                                               \
    }
#define SOON(sb, stale)                                                                            \
    {                                                                                              \
        SOONER(sb, 1.2), SOONER(sb, 1.4), AHEAD(stale, sb, 1.4)                                    \
    }
#define SPENT(sb, stale)                                                                           \
    {                                                                                              \
        {CULL_CLAIM_TRAINED, sb, NULL, NULL, CULL_CLAIM_BELOW, 0, 1, 1.4}, SOONER(sb, 1.4),        \
            AHEAD(stale, sb, 1.4)                                                                  \
    }
#define LIKE(a, b)                                                                                 \
    {                                                                                              \
        CULL_CLAIM_END, a, b, NULL, CULL_CLAIM_WITHIN, .5, 0, 0                                    \
    }
#define STALE_ENDS(b)                                                                              \
    {                                                                                              \
        LIKE("sb-stream stale beta=" b " stale-every=2", "sb-stream beta=" b),                     \
            LIKE("sb-stream stale beta=" b " stale-every=3", "sb-stream beta=" b)                  \
    }
#define STALE_OF(b)                                                                                \
    "sb-stream beta=" b ",sb-stream stale beta=" b " stale-every=2,sb-stream stale beta=" b        \
    " stale-every=3"
#define FRONTIER                                                                                   \
    {                                                                                              \
        {CULL_CLAIM_FRONT, "SB and Stale-SB", NULL, NULL, CULL_CLAIM_ABOVE, 0, 50, 0},             \
        {                                                                                          \
            CULL_CLAIM_FRONT, "Kath18", NULL, NULL, CULL_CLAIM_BELOW, 0, 25, 0                     \
        }                                                                                          \
    }

#define UPDATES  .drawing = CULL_DRAW_UPDATES, .seeds = 1
#define CLOCK    .drawing = CULL_DRAW_TIME, .seeds = 1
#define BARS(t)  .drawing = CULL_DRAW_PHASES, .target = t, .seeds = 1
#define TABLE    .drawing = CULL_DRAW_TARGETS, .seeds = 1
#define FRONT    .drawing = CULL_DRAW_FRONTIER, .groups = GROUPS, .seeds = 1, .rule = FRONTIER
#define WATCH(l) .kind = CULL_REPRODUCE_WATCH, .look = CULL_LOOK_##l, .seeds = 1

// clang-format off
const cull_reproduction cull_reproduce_jiang[] = {
    {.name = "jiang2019/fig1", .number = "Figure 1",
     .title = "where the time to a target error goes, SVHN, WRN-28-10",
     .claim = "Selective-Backprop runs about 70 % fewer backward passes and halves the time to "
              "1.2 times the final error; losses reused for two of three epochs take off another "
              "26 %.",
     .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333", BARS(1.2),
     .rule = {{CULL_CLAIM_TRAINED, SB3, NULL, NULL, CULL_CLAIM_WITHIN, .1, .3, 1.2},
              {CULL_CLAIM_SOONER, SB3, NULL, NULL, CULL_CLAIM_ABOVE, -.5, 2, 1.2},
              AHEAD(STALE3, SB3, 1.2)}},
    {.name = "jiang2019/fig2", .number = "Figure 2",
     .title = "examples of consistently low and of consistently high loss, CIFAR-10",
     WATCH(EXAMPLES),
     .claim = "Examples of low loss throughout are plain views of their class, those of high loss "
              "are odd or ambiguous.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = SB2, .drawing = CULL_DRAW_EXAMPLES},
    {.name = "jiang2019/fig3", .number = "Figure 3",
     .title = "the losses of all examples at moments of training, CIFAR-10", WATCH(LOSSES),
     .claim = "As training goes on most losses are small and few are large, so that a loss's place "
              "among all of them says more than its size.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = SB2, .drawing = CULL_DRAW_LINES,
     .x = "loss; epoch", .y = "share of the examples below; loss",
     .rule = {{CULL_CLAIM_POINTS, "median", "mean", "by epoch", CULL_CLAIM_BELOW, 0, 0, 0}}},
    {.name = "jiang2019/fig4", .number = "Figure 4",
     .title = "the chance of being picked by loss, for each beta, CIFAR-10", WATCH(SELECTIONS),
     .claim = "The larger beta, the fewer examples of low loss are picked.",
     .recipe = "jiang2019/mobilenet.yaml",
     .strategies = SB2 ",sb-stream beta=0.5," SB1 "," SB3 ",sb-stream beta=4",
     .drawing = CULL_DRAW_LINES, .x = "loss", .y = "chance of being picked",
     .rule = {{CULL_CLAIM_POINTS, SB3, SB1, "chance", CULL_CLAIM_BELOW, 0, 0, 0}}},
    {.name = "jiang2019/fig5", .number = "Figure 5",
     .title = "gradients of high-loss and of random examples, CIFAR-10, MobileNetV2",
     WATCH(GRADIENTS),
     .claim = "After the first epoch the gradient of the examples of highest loss is nearer to "
              "the whole batch's than that of as many random ones, in cosine and in signs; with "
              "a tenth kept, more than 80 % of the signs stay.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = "random,top-loss,sb",
     .keep = "0.1,0.3,0.5", .drawing = CULL_DRAW_LINES, .x = "epoch",
     .rule = {{CULL_CLAIM_POINTS, "top-loss 0.1", "random 0.1", "cosine", CULL_CLAIM_ABOVE, 0, 0, 0},
              {CULL_CLAIM_POINTS, "top-loss 0.1", "random 0.1", "equal signs", CULL_CLAIM_ABOVE, 0,
               0, 0},
              {CULL_CLAIM_POINTS, "top-loss 0.1", NULL, "equal signs", CULL_CLAIM_ABOVE, 0, .8, 0}}},

    {.name = "jiang2019/fig6", .number = "Figure 6",
     .title = "error against updates, CIFAR-10, WRN-28-10", .claim = ITERATION,
     .recipe = "jiang2019/cifar10.yaml", .strategies = TEN, .keep = "0.333", UPDATES,
     .rule = FEW_UPDATES(SB2)},
    {.name = "jiang2019/fig6-cifar100", .number = "Figure 6",
     .title = "error against updates, CIFAR-100, WRN-28-10", .claim = ITERATION,
     .recipe = "jiang2019/cifar100.yaml", .strategies = HUNDRED, .keep = "0.5", UPDATES,
     .rule = FEW_UPDATES(SB1)},
    {.name = "jiang2019/fig6-svhn", .number = "Figure 6",
     .title = "error against updates, SVHN, WRN-28-10", .claim = ITERATION,
     .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333", UPDATES,
     .rule = FEW_UPDATES(SB3)},
    {.name = "jiang2019/fig7", .number = "Figure 7",
     .title = "error against time, CIFAR-10, WRN-28-10", .claim = TIME,
     .recipe = "jiang2019/cifar10.yaml", .strategies = TEN, .keep = "0.333", CLOCK,
     .rule = SOON(SB2, STALE2)},
    {.name = "jiang2019/fig7-cifar100", .number = "Figure 7",
     .title = "error against time, CIFAR-100, WRN-28-10", .claim = TIME,
     .recipe = "jiang2019/cifar100.yaml", .strategies = HUNDRED, .keep = "0.5", CLOCK,
     .rule = SOON(SB1, STALE1)},
    {.name = "jiang2019/fig7-svhn", .number = "Figure 7",
     .title = "error against time, SVHN, WRN-28-10", .claim = TIME,
     .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333", CLOCK,
     .rule = SOON(SB3, STALE3)},

    {.name = "jiang2019/fig8", .number = "Figure 8",
     .title = "confidence in the true class after ten epochs, CIFAR-10", WATCH(CONFIDENCE),
     .claim = "Ten epochs in, the network trained selectively is surer of hard test examples (55 "
              "% at the 20th percentile) than the one trained on all, and less sure of easy ones.",
     .recipe = "jiang2019/cifar10.yaml", .changes = "train.epochs=10", .strategies = "full," SB2,
     .drawing = CULL_DRAW_LINES, .x = "percentile of the test examples",
     .y = "confidence in the true class",
     .rule = {{CULL_CLAIM_POINTS, SB2, "full", NULL, CULL_CLAIM_ABOVE, 0, 0, 20},
              {CULL_CLAIM_POINTS, SB2, "full", NULL, CULL_CLAIM_BELOW, 0, 0, 80}}},
    {.name = "jiang2019/fig9", .number = "Figure 9",
     .title = "accuracy by confidence after ten epochs, CIFAR-10", WATCH(ACCURACY),
     .claim = "Of the test examples at the 20th percentile of confidence, 29 % are classified "
              "right with Selective-Backprop and 3 % without.",
     .recipe = "jiang2019/cifar10.yaml", .changes = "train.epochs=10", .strategies = "full," SB2,
     .drawing = CULL_DRAW_LINES, .x = "percentile of the test examples, by tenths",
     .y = "share classified right",
     .rule = {{CULL_CLAIM_POINTS, SB2, "full", NULL, CULL_CLAIM_ABOVE, 0, 0, 20}}},

    {.name = "jiang2019/table1", .number = "Table 1",
     .title = "speed-up to 1.1, 1.2 and 1.4 times the final error, CIFAR-10",
     .claim = "Against full training's 2.96 %: Selective-Backprop 1.4, 1.2 and 1.5 times faster, "
              "with reused losses never, 1.5 and 2.0, Kath18 1.4, 1.1 and 1.3.",
     .recipe = "jiang2019/cifar10.yaml", .strategies = TEN, .keep = "0.333", TABLE,
     .rule = {SOONER(SB2, 1.1), SOONER(SB2, 1.2), SOONER(SB2, 1.4), SOONER(STALE2, 1.4)}},
    {.name = "jiang2019/table1-cifar100", .number = "Table 1",
     .title = "speed-up to 1.1, 1.2 and 1.4 times the final error, CIFAR-100",
     .claim = "Against full training's 18.21 %: Selective-Backprop 1.2, 1.2 and 1.2 times "
              "faster, with reused losses 1.5, 1.0 and 1.6, Kath18 1.1, .8 and .8.",
     .recipe = "jiang2019/cifar100.yaml", .strategies = HUNDRED, .keep = "0.5", TABLE,
     .rule = {SOONER(SB1, 1.1), SOONER(SB1, 1.2), SOONER(SB1, 1.4), SOONER(STALE1, 1.4)}},
    {.name = "jiang2019/table1-svhn", .number = "Table 1",
     .title = "speed-up to 1.1, 1.2 and 1.4 times the final error, SVHN",
     .claim = "Against full training's 1.72 %: Selective-Backprop 3.4, 3.4 and 3.5 times faster, "
              "with reused losses 4.3, 4.9 and 5.0, Kath18 1.9, 2.8 and 3.4.",
     .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333", TABLE,
     .rule = {{CULL_CLAIM_SOONER, SB3, NULL, NULL, CULL_CLAIM_ABOVE, -1, 3.4, 1.1},
              {CULL_CLAIM_SOONER, SB3, NULL, NULL, CULL_CLAIM_ABOVE, -1, 3.4, 1.2},
              {CULL_CLAIM_SOONER, SB3, NULL, NULL, CULL_CLAIM_ABOVE, -1, 3.5, 1.4},
              AHEAD(STALE3, SB3, 1.4)}},

    {.name = "jiang2019/fig10", .number = "Figure 10",
     .title = "where the time to a target error goes, CIFAR-10, WRN-28-10", .claim = PHASES,
     .recipe = "jiang2019/cifar10.yaml", .strategies = TEN, .keep = "0.333", BARS(1.4),
     .rule = SPENT(SB2, STALE2)},
    {.name = "jiang2019/fig10-cifar100", .number = "Figure 10",
     .title = "where the time to a target error goes, CIFAR-100, WRN-28-10", .claim = PHASES,
     .recipe = "jiang2019/cifar100.yaml", .strategies = HUNDRED, .keep = "0.5", BARS(1.4),
     .rule = SPENT(SB1, STALE1)},
    {.name = "jiang2019/fig10-svhn", .number = "Figure 10",
     .title = "where the time to a target error goes, SVHN, WRN-28-10", .claim = PHASES,
     .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333", BARS(1.4),
     .rule = SPENT(SB3, STALE3)},
    {.name = "jiang2019/fig11", .number = "Figure 11",
     .title = "how stale losses may be, CIFAR-10, WRN-28-10", .claim = STALENESS,
     .recipe = "jiang2019/cifar10.yaml", .strategies = STALE_OF("2"), CLOCK,
     .rule = STALE_ENDS("2")},
    {.name = "jiang2019/fig11-cifar100", .number = "Figure 11",
     .title = "how stale losses may be, CIFAR-100, WRN-28-10", .claim = STALENESS,
     .recipe = "jiang2019/cifar100.yaml", .strategies = STALE_OF("1"), CLOCK,
     .rule = STALE_ENDS("1")},
    {.name = "jiang2019/fig11-svhn", .number = "Figure 11",
     .title = "how stale losses may be, SVHN, WRN-28-10", .claim = STALENESS,
     .recipe = "jiang2019/svhn.yaml", .strategies = STALE_OF("3"), CLOCK,
     .rule = STALE_ENDS("3")},

    {.name = "jiang2019/fig12", .number = "Figure 12",
     .title = "label noise of 1, 10 and 20 %, CIFAR-10, WRN-28-10",
     .claim = "Training is faster with wrong labels too; with 1 and 10 % of them the final error "
              "is comparable, with 20 % it is higher.",
     .recipe = "jiang2019/cifar10.yaml", .strategies = SB2 "," STALE2,
     .vary = "data.label_noise=0.01,0.1,0.2", .drawing = CULL_DRAW_BY_VALUE,
     .x = "share of wrong labels", .seeds = 1,
     .rule = {SOONER(SB2, 1.4),
              {CULL_CLAIM_END, SB2, "full", "0.01", CULL_CLAIM_ABOVE, -.5, 0, 0},
              {CULL_CLAIM_END, SB2, "full", "0.1", CULL_CLAIM_ABOVE, -1, 0, 0},
              {CULL_CLAIM_END, SB2, "full", "0.2", CULL_CLAIM_BELOW, 0, 0, 0}}},
    {.name = "jiang2019/fig13", .number = "Figure 13",
     .title = "selectivity, CIFAR-10, WRN-28-10",
     .claim = "Keeping fewer is faster and ends at a higher error: with 20 % kept it is within "
              ".92 points of full training. Shares from 20 to 65 % speed training up.",
     .recipe = "jiang2019/cifar10.yaml",
     .strategies = "sb-stream beta=0.5," SB1 "," SB2 "," SB3 ",sb-stream beta=4", CLOCK,
     .rule = {{CULL_CLAIM_SPEED, "sb-stream beta=4", SB1, NULL, CULL_CLAIM_ABOVE, 0, 0, 0},
              {CULL_CLAIM_END, "sb-stream beta=4", SB1, NULL, CULL_CLAIM_BELOW, 0, 0, 0},
              {CULL_CLAIM_END, "sb-stream beta=4", "full", NULL, CULL_CLAIM_ABOVE, -.92, 0, 0}}},
    {.name = "jiang2019/fig13-cifar100", .number = "Figure 13",
     .title = "selectivity, CIFAR-100, WRN-28-10",
     .claim = "With 25 % kept the final error is within 2.54 points of full training.",
     .recipe = "jiang2019/cifar100.yaml",
     .strategies = "sb-stream beta=0.5," SB1 "," SB2 "," SB3, CLOCK,
     .rule = {{CULL_CLAIM_END, SB3, "full", NULL, CULL_CLAIM_ABOVE, -2.54, 0, 0}}},

    {.name = "jiang2019/fig14", .number = "Figure 14",
     .title = "the frontier of time and error, CIFAR-10, WRN-28-10",
     .claim = "Selective-Backprop, with and without reused losses, makes 72 % of the frontier, "
              "full training 10 % (at the largest budgets), Kath18 10 %.",
     .recipe = "jiang2019/cifar10.yaml",
     .strategies = SB1 "," SB2 "," SB3 ",sb-stream stale beta=2 stale-every=2," STALE2 "," KATH,
     .keep = "0.333", .vary = "schedule.milestones=60+120+160,48+96+128", FRONT},
    {.name = "jiang2019/fig14-cifar100", .number = "Figure 14",
     .title = "the frontier of time and error, CIFAR-100, WRN-28-10",
     .claim = "Selective-Backprop, with and without reused losses, makes 47 % of the frontier, "
              "full training 43 %, Kath18 8 %.",
     .recipe = "jiang2019/cifar100.yaml",
     .strategies = SB1 "," SB2 "," SB3 ",sb-stream stale beta=1 stale-every=2," STALE1 "," KATH,
     .keep = "0.5", .vary = "schedule.milestones=60+120,48+96", .drawing = CULL_DRAW_FRONTIER,
     .groups = GROUPS, .seeds = 1,
     .rule = {{CULL_CLAIM_FRONT, "SB and Stale-SB", NULL, NULL, CULL_CLAIM_ABOVE, -10, 47, 0},
              {CULL_CLAIM_FRONT, "Kath18", NULL, NULL, CULL_CLAIM_BELOW, 0, 25, 0}}},
    {.name = "jiang2019/fig14-svhn", .number = "Figure 14",
     .title = "the frontier of time and error, SVHN, WRN-28-10",
     .claim = "Selective-Backprop, with and without reused losses, makes 80 % of the frontier, "
              "full training 6 %, Kath18 14 %.",
     .recipe = "jiang2019/svhn.yaml",
     .strategies = SB1 "," SB2 "," SB3 ",sb-stream stale beta=3 stale-every=2," STALE3 "," KATH,
     .keep = "0.333", .vary = "schedule.milestones=60+120,48+96", FRONT},
    {.name = "jiang2019/static", .number = "Section 5.4",
     .title = "a rate that never changes, CIFAR-10, WRN-28-10", .claim = STATIC,
     .recipe = "jiang2019/cifar10.yaml", .changes = "schedule.name=constant", .strategies = TEN,
     .keep = "0.333", CLOCK, .rule = SOON(SB2, STALE2)},
    {.name = "jiang2019/batch64", .number = "Section 5.1",
     .title = "batches of 64, CIFAR-10, WRN-28-10", .claim = BATCH64,
     .recipe = "jiang2019/cifar10.yaml", .changes = "train.batch=64", .strategies = TEN,
     .keep = "0.333", CLOCK, .rule = SOON(SB2, STALE2)},

    {.name = "jiang2019/fig15", .number = "Figure 15",
     .title = "chances of being picked over time, CIFAR-10, MobileNetV2", WATCH(CHANCES),
     .claim = "An example's chance of being picked moves from epoch to epoch in ordinary "
              "training, and more so once examples are left out.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = "full," SB2, .drawing = CULL_DRAW_LINES,
     .x = "epoch",
     .y = "chance of being picked; mean move since the epoch before; chance of being picked",
     .rule = {{CULL_CLAIM_POINTS, SB2, "full", "mean move", CULL_CLAIM_ABOVE, 0, 0, 0}}},
    {.name = "jiang2019/fig16", .number = "Figure 16", .title = "three architectures, CIFAR-10",
     .claim = "ResNet-18, DenseNet and MobileNetV2 show the same gains.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = SB2,
     .vary = "model.name=resnet18,densenet-bc-100-12,mobilenetv2", .drawing = CULL_DRAW_BY_VALUE,
     .x = "network", .seeds = 1,
     .rule = {{CULL_CLAIM_SOONER, SB2, NULL, "resnet18", CULL_CLAIM_ABOVE, 0, 1, 1.4},
              {CULL_CLAIM_SOONER, SB2, NULL, "densenet-bc-100-12", CULL_CLAIM_ABOVE, 0, 1, 1.4},
              {CULL_CLAIM_SOONER, SB2, NULL, "mobilenetv2", CULL_CLAIM_ABOVE, 0, 1, 1.4}}},
    {.name = "jiang2019/fig17", .number = "Figure 17",
     .title = "an accelerated schedule, CIFAR-10, WRN-28-10", .claim = SCHEDULE,
     .recipe = "jiang2019/cifar10.yaml", .changes = "schedule.milestones=48,96,128",
     .strategies = TEN, .keep = "0.333", CLOCK, .rule = SOON(SB2, STALE2)},
    {.name = "jiang2019/fig17-cifar100", .number = "Figure 17",
     .title = "an accelerated schedule, CIFAR-100, WRN-28-10", .claim = SCHEDULE,
     .recipe = "jiang2019/cifar100.yaml", .changes = "schedule.milestones=48,96",
     .strategies = HUNDRED, .keep = "0.5", CLOCK, .rule = SOON(SB1, STALE1)},
    {.name = "jiang2019/fig17-svhn", .number = "Figure 17",
     .title = "an accelerated schedule, SVHN, WRN-28-10", .claim = SCHEDULE,
     .recipe = "jiang2019/svhn.yaml", .changes = "schedule.milestones=48,96",
     .strategies = DIGITS, .keep = "0.333", CLOCK, .rule = SOON(SB3, STALE3)},
    {.name = "jiang2019/fig18", .number = "Figure 18",
     .title = "forward against backward, MobileNetV2", .kind = CULL_REPRODUCE_TIME,
     .claim = "On their GPUs a backward pass takes up to 2.5 times as long as a forward pass.",
     .recipe = "jiang2019/mobilenet.yaml", .vary = "train.batch=32,64,128",
     .drawing = CULL_DRAW_BARS, .y = "milliseconds a batch; times as long as forward",
     .seeds = 1,
     .rule = {{CULL_CLAIM_BARS, "ratio", NULL, NULL, CULL_CLAIM_BELOW, 0, 2.5, 0},
              {CULL_CLAIM_BARS, "ratio", NULL, NULL, CULL_CLAIM_ABOVE, 0, 1, 0}}},
    {.name = NULL},
};
// clang-format on
