/*
 * lab/reproduce/reproduce_jiang.c - Jiang et al.: Accelerating Deep Learning by Focusing on the
 * Biggest Losers, 2019. Kept shares of 33, 50 and 25 % are exponents of 2, 1 and 3; their Kath18
 * draws by loss, without weights, and keeps 33 % (CIFAR-100: 50 %).
 */
#include "lab/reproduce/reproduce.h"

#define KATH      "kath18 score=loss weights=unit" /* keeps what .keep says, others by beta */
#define TEN       "sb-stream beta=2,sb-stream stale beta=2 stale-every=3," KATH
#define HUNDRED   "sb-stream beta=1,sb-stream stale beta=1 stale-every=3," KATH
#define DIGITS    "sb-stream beta=3,sb-stream stale beta=3 stale-every=3," KATH
#define ITERATION "Selective-Backprop reaches almost every test error with fewer updates."
#define TIME                                                                                       \
    "Selective-Backprop reaches target errors sooner on the clock, and reusing losses sooner "     \
    "still."

// clang-format off
const cull_reproduction cull_reproduce_jiang[] = {
    {.name = "jiang2019/fig1", .title = "where the time to a target error goes, SVHN, WRN-28-10",
     .claim = "Selective-Backprop runs about 70 % fewer backward passes and halves the time to "
              "1.2 times the final error; losses reused for two of three epochs take off another "
              "26 %.",
     .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333",
     .shows = CULL_SHOW_PHASES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig2", .title = "the easiest and the hardest examples, CIFAR-10",
     .kind = CULL_REPRODUCE_WATCH,
     .claim = "Examples of low loss are plain views of their class, those of high loss are odd "
              "or ambiguous.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = "sb-stream beta=2",
     .shows = CULL_SHOW_EXAMPLES, .seeds = 1},
    {.name = "jiang2019/fig5",
     .title = "gradients of high-loss and of random examples, CIFAR-10, MobileNetV2",
     .kind = CULL_REPRODUCE_WATCH,
     .claim = "After the first epoch the gradient of the examples of highest loss is nearer to "
              "the whole batch's than that of as many random ones, in cosine and in signs; with "
              "a tenth kept, more than 80 % of the signs stay.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = "random,top-loss,sb",
     .keep = "0.1,0.3,0.5", .shows = CULL_SHOW_GRADIENTS, .seeds = 1},
    {.name = "jiang2019/fig6", .title = "error against updates, CIFAR-10, WRN-28-10",
     .claim = ITERATION, .recipe = "jiang2019/cifar10.yaml", .strategies = TEN, .keep = "0.333",
     .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig6-cifar100", .title = "error against updates, CIFAR-100, WRN-28-10",
     .claim = ITERATION, .recipe = "jiang2019/cifar100.yaml", .strategies = HUNDRED, .keep = "0.5",
     .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig6-svhn", .title = "error against updates, SVHN, WRN-28-10",
     .claim = ITERATION, .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333",
     .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig7", .title = "error against time, CIFAR-10, WRN-28-10", .claim = TIME,
     .recipe = "jiang2019/cifar10.yaml", .strategies = TEN, .keep = "0.333",
     .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig7-cifar100", .title = "error against time, CIFAR-100, WRN-28-10",
     .claim = TIME, .recipe = "jiang2019/cifar100.yaml", .strategies = HUNDRED, .keep = "0.5",
     .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig7-svhn", .title = "error against time, SVHN, WRN-28-10", .claim = TIME,
     .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333",
     .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig8", .title = "confidence in the true class after ten epochs, CIFAR-10",
     .kind = CULL_REPRODUCE_WATCH,
     .claim = "Ten epochs in, the network trained selectively is surer of hard test examples (55 "
              "% at the 20th percentile) than the one trained on all, and less sure of easy ones.",
     .recipe = "jiang2019/cifar10.yaml", .changes = "train.epochs=10",
     .strategies = "full,sb-stream beta=2", .shows = CULL_SHOW_CONFIDENCE, .seeds = 1},
    {.name = "jiang2019/fig9", .title = "accuracy by confidence after ten epochs, CIFAR-10",
     .kind = CULL_REPRODUCE_WATCH,
     .claim = "Of the test examples at the 20th percentile of confidence, 29 % are classified "
              "right with Selective-Backprop and 3 % without.",
     .recipe = "jiang2019/cifar10.yaml", .changes = "train.epochs=10",
     .strategies = "full,sb-stream beta=2", .shows = CULL_SHOW_CONFIDENCE, .seeds = 1},
    {.name = "jiang2019/fig10",
     .title = "where the time to a target error goes, CIFAR-10, WRN-28-10",
     .claim = "Selective-Backprop saves backward time; more than half of what is left is forward "
              "passes, of which losses reused for two of three epochs save two thirds of those "
              "that only select.",
     .recipe = "jiang2019/cifar10.yaml", .strategies = TEN, .keep = "0.333",
     .shows = CULL_SHOW_PHASES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig11", .title = "how stale losses may be, CIFAR-10, WRN-28-10",
     .claim = "Scoring only every second or third epoch saves forward passes and hardly changes "
              "the final error.",
     .recipe = "jiang2019/cifar10.yaml",
     .strategies = "sb-stream beta=2,sb-stream stale beta=2 stale-every=2,sb-stream stale beta=2 "
                   "stale-every=3",
     .shows = CULL_SHOW_BEST | CULL_SHOW_PHASES, .seeds = 1},
    {.name = "jiang2019/fig12", .title = "label noise of 1, 10 and 20 %, CIFAR-10, WRN-28-10",
     .claim = "Training is faster with wrong labels too; with 1 and 10 % of them the final error "
              "is comparable, with 20 % it is higher.",
     .recipe = "jiang2019/cifar10.yaml",
     .strategies = "sb-stream beta=2,sb-stream stale beta=2 stale-every=3",
     .vary = "data.label_noise=0.01,0.1,0.2", .shows = CULL_SHOW_BEST | CULL_SHOW_SPEED,
     .seeds = 1},
    {.name = "jiang2019/fig13", .title = "selectivity, CIFAR-10, WRN-28-10",
     .claim = "Keeping fewer is faster and ends at a higher error: with 20 % kept it is within "
              ".92 points of full training. Shares from 20 to 65 % speed training up.",
     .recipe = "jiang2019/cifar10.yaml",
     .strategies = "sb-stream beta=0.5,sb-stream beta=1,sb-stream beta=2,sb-stream "
                   "beta=3,sb-stream beta=4",
     .shows = CULL_SHOW_BEST | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig13-cifar100", .title = "selectivity, CIFAR-100, WRN-28-10",
     .claim = "With 25 % kept the final error is within 2.54 points of full training.",
     .recipe = "jiang2019/cifar100.yaml",
     .strategies = "sb-stream beta=0.5,sb-stream beta=1,sb-stream beta=2,sb-stream beta=3",
     .shows = CULL_SHOW_BEST | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig14", .title = "the frontier of time and error, CIFAR-10, WRN-28-10",
     .claim = "Selective-Backprop, with and without reused losses, makes 72 % of the frontier "
              "(47 % on CIFAR-100, 80 % on SVHN), full training 10 % (43, 6), at the largest "
              "budgets.",
     .recipe = "jiang2019/cifar10.yaml",
     .strategies = "sb-stream beta=1,sb-stream beta=2,sb-stream beta=3,sb-stream stale beta=2 "
                   "stale-every=2,sb-stream stale beta=2 stale-every=3," KATH,
     .keep = "0.333", .vary = "schedule.milestones=60:120:160,48:96:128",
     .shows = CULL_SHOW_PARETO | CULL_SHOW_BEST, .seeds = 1},
    {.name = "jiang2019/fig15", .title = "chances of being picked over time, CIFAR-10, MobileNetV2",
     .kind = CULL_REPRODUCE_WATCH,
     .claim = "An example's chance of being picked moves from epoch to epoch in ordinary "
              "training, and more so once examples are left out.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = "full,sb-stream beta=2",
     .shows = CULL_SHOW_CHANCES, .seeds = 1},
    {.name = "jiang2019/fig16", .title = "three architectures, CIFAR-10",
     .claim = "ResNet-18, DenseNet and MobileNetV2 show the same gains.",
     .recipe = "jiang2019/mobilenet.yaml", .strategies = "sb-stream beta=2",
     .vary = "model.name=resnet18,densenet-bc-100-12,mobilenetv2",
     .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig17", .title = "an accelerated schedule, CIFAR-10, WRN-28-10",
     .claim = "With the rate cut after 48, 96 and 128 epochs the gains are the same.",
     .recipe = "jiang2019/cifar10.yaml", .changes = "schedule.milestones=48,96,128",
     .strategies = TEN, .keep = "0.333", .shows = CULL_SHOW_CURVES | CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/fig18", .title = "forward against backward, MobileNetV2",
     .kind = CULL_REPRODUCE_TIME,
     .claim = "On their GPUs a backward pass takes up to 2.5 times as long as a forward pass.",
     .recipe = "jiang2019/mobilenet.yaml", .shows = CULL_SHOW_PHASES, .seeds = 1},
    {.name = "jiang2019/table1",
     .title = "speed-up to 1.1, 1.2 and 1.4 times the final error, CIFAR-10",
     .claim = "Against full training's 2.96 %: Selective-Backprop 1.4, 1.2 and 1.5 times faster, "
              "with reused losses never, 1.5 and 2.0, Kath18 1.4, 1.1 and 1.3.",
     .recipe = "jiang2019/cifar10.yaml", .strategies = TEN, .keep = "0.333",
     .shows = CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/table1-cifar100",
     .title = "speed-up to 1.1, 1.2 and 1.4 times the final error, CIFAR-100",
     .claim = "Against full training's 18.21 %: Selective-Backprop 1.2, 1.2 and 1.2 times "
              "faster, with reused losses 1.5, 1.0 and 1.6, Kath18 1.1, .8 and .8.",
     .recipe = "jiang2019/cifar100.yaml", .strategies = HUNDRED, .keep = "0.5",
     .shows = CULL_SHOW_SPEED, .seeds = 1},
    {.name = "jiang2019/table1-svhn",
     .title = "speed-up to 1.1, 1.2 and 1.4 times the final error, SVHN",
     .claim = "Against full training's 1.72 %: Selective-Backprop 3.4, 3.4 and 3.5 times faster, "
              "with reused losses 4.3, 4.9 and 5.0, Kath18 1.9, 2.8 and 3.4.",
     .recipe = "jiang2019/svhn.yaml", .strategies = DIGITS, .keep = "0.333",
     .shows = CULL_SHOW_SPEED, .seeds = 1},
    {.name = NULL},
};
// clang-format on
