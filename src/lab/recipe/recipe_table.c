/* lab/recipe/recipe_table.c - every key of a recipe. */
#include <string.h>

#include "backend/backend.h"
#include "lab/recipe/recipe.h"

#define WHOLE 9007199254740992. /* 2^53: every whole number up to here is exact */

// clang-format off
const cull_option_spec cull_recipe_table[] = {
    {"data.name", CULL_OPTION_TEXT, "fashion-mnist", 0, 0, "set",
     "a set that `cull data list` names, or a file or folder as `docs/formats.md` has them"},
    {"data.root", CULL_OPTION_TEXT, "", 0, 0, "folder",
     "the folder that holds the sets' folders; none: $CULL_DATA"},
    {"data.test", CULL_OPTION_TEXT, "", 0, 0, "file",
     "a file or folder with the test set, where it is not part of the set itself"},
    {"data.split", CULL_OPTION_REAL, "0", 0, 0.9, NULL,
     "where there is no test set: share of the set, of every class, that becomes one, before all "
     "else and for every seed the same; 0: none"},
    {"data.layout", CULL_OPTION_CHOICE, "auto", 0, 0, "auto|nchw|nhwc",
     "where an array of images has its channels; auto: on the axis that has 1, 3 or 4, if only one "
     "does"},
    {"data.size", CULL_OPTION_INT, "0", 0, 1024, NULL,
     "pictures become squares of so many pixels; 0: all are of one size already"},
    {"data.fit", CULL_OPTION_CHOICE, "cover", 0, 0, "cover|stretch|centre",
     "and how: the shorter side is scaled to data.size and the middle taken, both sides are scaled "
     "to it, or the middle is taken as it is"},
    {"data.label", CULL_OPTION_TEXT, "", 0, 0, NULL,
     "the column of a table that is to be learned, or several with commas between; none: the one called label, "
     "class, target or y, or the last"},
    {"data.text", CULL_OPTION_TEXT, "", 0, 0, NULL,
     "the column of a table, or the field of JSON lines, that holds a text; none: the one called text"},
    {"data.tokenizer", CULL_OPTION_TEXT, "", 0, 0, "file",
     "what cuts texts into word pieces, as BERT's models take them: a vocab.txt, a tokenizer.json or a "
     "model's folder that holds one"},
    {"data.length", CULL_OPTION_INT, "0", 0, 4096, NULL,
     "most tokens of a text, [CLS] and [SEP] counted; the rest is cut. 0: 512, or as many as "
     "model.path has positions"},
    {"data.missing", CULL_OPTION_CHOICE, "refuse", 0, 0, "refuse|mean",
     "what becomes of a table's cells that are empty, NA, NaN, null or ?: none may be there, or they "
     "are the mean of their column, and of no category"},
    {"data.validation", CULL_OPTION_REAL, "0", 0, 0.9, NULL,
     "share of the training set to split off and watch, the test set being read beside it; 0: the "
     "test set is watched"},
    {"data.subset", CULL_OPTION_REAL, "1", 1e-6, 1, NULL,
     "share of the training examples that are there at all, the same of every class, and of the "
     "validation set's"},
    {"data.imbalance", CULL_OPTION_REAL, "0", 0, 1, NULL,
     "share of the classes that lose most of their training examples"},
    {"data.imbalance_keep", CULL_OPTION_REAL, "0.1", 1e-6, 1, NULL,
     "share of its examples that such a class keeps"},
    {"data.label_noise", CULL_OPTION_REAL, "0", 0, 1, NULL,
     "share of the training examples that get a wrong label"},
    {"data.noise", CULL_OPTION_CHOICE, "flip", 0, 0, "flip|redraw",
     "wrong labels: another class, or any class"},
    {"data.duplicates", CULL_OPTION_INT, "1", 1, 1000, NULL,
     "how many times each training example is there"},
    {"data.workers", CULL_OPTION_INT, "1", 0, 256, NULL,
     "threads that load; never changes the result"},

    {"augment.crop", CULL_OPTION_INT, "0", 0, 1024, NULL,
     "pixels of padding of which a random window is taken; 0: none"},
    {"augment.padding", CULL_OPTION_CHOICE, "zero", 0, 0, "zero|reflect",
     "what lies beyond the border"},
    {"augment.flip", CULL_OPTION_BOOL, "false", 0, 0, NULL,
     "left and right change places with probability 1/2"},
    {"augment.cutout", CULL_OPTION_INT, "0", 0, 1024, NULL,
     "side of a square that is blanked at random; 0: none"},

    {"model.name", CULL_OPTION_TEXT, "lenet5", 0, 0, "model",
     "mlp, lenet5, resnet20, resnet56, resnet18, resnet34, resnet50, wrn-D-K, densenet-bc-D-K, "
     "mobilenetv1, mobilenetv2, or of texts bert or transformer-L-W"},
    {"model.path", CULL_OPTION_TEXT, "", 0, 0, "folder",
     "bert: a folder with its sizes in config.json and its weights in model.safetensors, as Hugging "
     "Face's transformers leaves one"},
    {"model.layers", CULL_OPTION_LAYERS, "none", 0, 0, NULL,
     "a network of one's own in place of a named one, layer by layer, as docs/recipes.md says; "
     "model.name is then `layers`"},
    {"model.width", CULL_OPTION_INT, "256", 1, 1048576, NULL, "units of each hidden layer of mlp"},
    {"model.depth", CULL_OPTION_INT, "2", 1, 1000, NULL, "how many hidden layers mlp has"},
    {"model.dropout", CULL_OPTION_REAL, "0", 0, 0.95, NULL,
     "probability, of wrn-D-K (between a block's convolutions), mobilenetv2 (before the last layer), "
     "bert and transformer-L-W (of attention's weights too; what config.json says of it is not read)"},
    {"model.stem", CULL_OPTION_CHOICE, "cifar", 0, 0, "cifar|imagenet",
     "first layers of resnet18, resnet34, resnet50 and the mobilenets: for small images, or for 224 "
     "pixels"},
    {"model.norm_epsilon", CULL_OPTION_REAL, "1e-5", 1e-12, 1, NULL,
     "what norms add to a variance before its root is taken"},
    {"model.norm_momentum", CULL_OPTION_REAL, "0.1", 1e-9, 1, NULL,
     "share of the new in BatchNorm's running averages, as PyTorch has it"},
    {"model.loss", CULL_OPTION_CHOICE, "cross-entropy", 0, 0,
     "cross-entropy|squared-error|binary-cross-entropy",
     "of one class an example; of numbers, the mean of their squared errors; of several labels that "
     "each hold or not, the mean of theirs"},
    {"model.smoothing", CULL_OPTION_REAL, "0", 0, 0.9, NULL,
     "label smoothing, of cross-entropy alone"},

    {"optim.name", CULL_OPTION_CHOICE, "sgd", 0, 0, "sgd|adam|adamw", "the rule, as PyTorch has it"},
    {"optim.lr", CULL_OPTION_REAL, "0.05", 1e-12, 1e3, NULL, "the highest learning rate"},
    {"optim.momentum", CULL_OPTION_REAL, "0.9", 0, 0.9999, NULL, "of sgd"},
    {"optim.nesterov", CULL_OPTION_BOOL, "false", 0, 0, NULL, "of sgd"},
    {"optim.weight_decay", CULL_OPTION_REAL, "0", 0, 1, NULL,
     "of every rule: sgd and adam add it to the gradient, adamw shrinks the weights by it"},
    {"optim.decay", CULL_OPTION_CHOICE, "all", 0, 0, "all|weights",
     "what decays: all parameters, or neither biases nor norms"},
    {"optim.beta1", CULL_OPTION_REAL, "0.9", 0, 0.999999, NULL, "of adam and adamw"},
    {"optim.beta2", CULL_OPTION_REAL, "0.999", 0, 0.999999, NULL, "of adam and adamw"},
    {"optim.epsilon", CULL_OPTION_REAL, "1e-8", 1e-16, 1, NULL, "of adam and adamw"},
    {"optim.clip", CULL_OPTION_REAL, "0", 0, 1e6, NULL,
     "most norm of the whole gradient; 0: any"},

    {"schedule.name", CULL_OPTION_CHOICE, "cosine", 0, 0, "constant|multi-step|cosine|one-cycle|linear",
     "how the rate goes, step by step"},
    {"schedule.warmup", CULL_OPTION_REAL, "0", 0, 1e6, NULL,
     "epochs of linear rise before the shape begins"},
    {"schedule.warmup_start", CULL_OPTION_REAL, "0.01", 0, 1, NULL,
     "share of the rate that the rise begins at"},
    {"schedule.milestones", CULL_OPTION_LIST, "", 0, 1e6, NULL,
     "multi-step: epochs after which the rate falls, as [60, 120]"},
    {"schedule.gamma", CULL_OPTION_REAL, "0.1", 1e-9, 1, NULL, "multi-step: by this factor"},
    {"schedule.low", CULL_OPTION_REAL, "0", 0, 1e3, NULL, "cosine, linear: the rate it ends at"},
    {"schedule.peak", CULL_OPTION_REAL, "0.3", 0, 1, NULL,
     "one-cycle: where in the run the rate is highest"},
    {"schedule.divide", CULL_OPTION_REAL, "25", 1, 1e9, NULL,
     "one-cycle: the rate begins at lr over this"},
    {"schedule.final_divide", CULL_OPTION_REAL, "10000", 1, 1e12, NULL,
     "one-cycle: and ends at its beginning over this"},
    {"schedule.count", CULL_OPTION_CHOICE, "scored", 0, 0, "scored|trained",
     "what the rate goes by: examples met, or examples trained"},
    {"schedule.stretch", CULL_OPTION_REAL, "1", 0.1, 10, NULL,
     "s: every rate times s, every epoch (also milestones and warm-up) over s"},

    {"select.strategy", CULL_OPTION_TEXT, "full", 0, 0, "strategy",
     "which examples are trained: a strategy of docs/strategies.md, with `stale` or `remembered` "
     "behind it if wanted, or the path of a plug-in. Its options are keys of this section too, "
     "as select.keep"},

    {"score.pass", CULL_OPTION_CHOICE, "separate", 0, 0, "separate|reuse",
     "run the kept examples forward again, or go backward through the scoring pass itself"},
    {"score.norm", CULL_OPTION_CHOICE, "batch", 0, 0, "batch|running",
     "BatchNorm while scoring a batch: by the batch, or by its averages (over the pool always so)"},
    {"score.precision", CULL_OPTION_CHOICE, "same", 0, 0, "same|int8|bf16",
     "of scoring: as of training, or convolutions in 8 bits where that is faster (on the processor), "
     "or values in bfloat16 (on a device)"},
    {"score.scale", CULL_OPTION_REAL, "1", 0.05, 1, NULL,
     "images are scored at this share of their height and width, by bilinear interpolation"},
    {"score.augment", CULL_OPTION_BOOL, "true", 0, 0, NULL,
     "score a batch as it will be trained; false: without augmentation (over the pool always so)"},
    {"score.pipelined", CULL_OPTION_BOOL, "false", 0, 0, NULL,
     "score the next batch on another thread, by weights one step old"},
    {"score.proxy", CULL_OPTION_TEXT, "", 0, 0, "model",
     "a small model that scores and is trained along; none: the model scores"},
    {"score.irreducible", CULL_OPTION_TEXT, "", 0, 0, "file",
     "a .npy or .npz file with a loss for each example in the order of the set's files, for `rho`"},

    {"reuse.batchnorm", CULL_OPTION_CHOICE, "kept", 0, 0, "kept|constants",
     "backward through BatchNorm with score.pass=reuse: by the kept rows, or statistics as "
     "constants"},

    {"train.epochs", CULL_OPTION_INT, "5", 1, 1e6, NULL, "passes over the training set"},
    {"train.batch", CULL_OPTION_INT, "64", 1, 1e6, NULL, "examples a step"},
    {"train.drop_short", CULL_OPTION_BOOL, "false", 0, 0, NULL,
     "leave out an epoch's last batch when it is not full"},
    {"train.init", CULL_OPTION_TEXT, "", 0, 0, "file",
     "a .safetensors file of weights and BatchNorm's averages to begin with, all of the model's and "
     "no others; none: drawn from the seed. A resumed run does not read it again once it "
     "has a checkpoint"},
    {"train.seed", CULL_OPTION_INT, "1", 0, WHOLE, NULL, "of all randomness"},
    {"train.backend", CULL_OPTION_CHOICE, "auto", 0, 0, cull_backend_names,
     "where runs compute: on the first CUDA device, or one by its number; on the processor; or by "
     "plain loops that define what is right. auto: on a device, where there is one and it can, else "
     "on the processor; networks outside of runs always there"},
    {"train.precision", CULL_OPTION_CHOICE, "float32", 0, 0, "float32|tf32|bfloat16",
     "what networks compute in on a device: float32, with products of ten bits of each factor, or "
     "with values of bfloat16 between the layers; parameters, sums and losses are float32 always"},
    {"train.deterministic", CULL_OPTION_BOOL, "false", 0, 0, NULL,
     "use only algorithms that give the same bits every time, where a device has faster ones; the "
     "processor always does"},
    {"train.threads", CULL_OPTION_INT, "0", 0, 1024, NULL,
     "0: one per core; never changes the result"},
    {"train.evaluate", CULL_OPTION_INT, "1", 1, 1e6, NULL, "epochs between evaluations"},
    {"train.evaluate_batch", CULL_OPTION_INT, "0", 0, 1e6, NULL,
     "examples at once there; 0: 250, and on a device 1000"},
    {"train.checkpoint", CULL_OPTION_INT, "1", 1, 1e6, NULL, "epochs between checkpoints"},
    {"train.checkpoint_steps", CULL_OPTION_INT, "0", 0, WHOLE, NULL,
     "steps between checkpoints inside an epoch; 0: none"},
    {"train.keep", CULL_OPTION_CHOICE, "all", 0, 0, "all|latest|none",
     "weights in the run's folder: the latest and the best, the latest alone, or none, so that a run "
     "that is killed begins anew (none is what comparisons take, unless told)"},
    {"train.log", CULL_OPTION_INT, "100", 0, WHOLE, NULL,
     "steps between lines in metrics.jsonl; 0: only epochs and evaluations"},
    {"train.target", CULL_OPTION_REAL, "0", 0, 1, NULL,
     "stop when this accuracy (R², mAP: what model.loss is measured by) is reached on the watched set; "
     "0: never"},
    {"train.seconds", CULL_OPTION_REAL, "0", 0, 1e9, NULL,
     "stop after so much time, that of evaluations not counted; 0: never. The result then depends on "
     "the machine's speed"},
    {"train.cost", CULL_OPTION_REAL, "0", 0, 1e15, NULL,
     "stop after so much counted work, in examples forward and backward; 0: never"},
    {"train.shorten", CULL_OPTION_REAL, "1", 1e-6, 1, NULL,
     "end after this share of the steps, to the nearest; the schedule covers exactly these"},
    {"train.evaluate_at", CULL_OPTION_LIST, "", 0, 1e6, NULL,
     "epochs of the run above 0, also fractions of them, at which the watched and the test set are "
     "evaluated besides"},
    {NULL, CULL_OPTION_INT, NULL, 0, 0, NULL, NULL},
};
// clang-format on

enum { KEYS = sizeof cull_recipe_table / sizeof *cull_recipe_table - 1 };

const cull_option_spec *cull_recipe_option_at(size_t i)
{
    return i < KEYS ? &cull_recipe_table[i] : NULL;
}

const cull_option_spec *cull_recipe_option(const char *key)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(cull_recipe_table[i].key, key) == 0) return &cull_recipe_table[i];
    return NULL;
}
