/* train/rule.h - the optimizer of a network's parameters. */
#ifndef CULL_TRAIN_RULE_H
#define CULL_TRAIN_RULE_H

#include "nn/nn.h"
#include "optim/optim.h"

/* decay_all false: norms and biases are left out of weight decay. What it remembers of the weights
 * is saved in the host's order, and the narrow copy of them follows its updates. */
cull_status cull_train_rule(const cull_optim_options *options, bool decay_all,
                            const cull_model *model, const cull_params *params, cull_optim **out);

#endif
