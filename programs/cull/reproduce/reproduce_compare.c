/* reproduce_compare.c - a figure's strategies beside controls of equal cost: cull compare, once or
 * for each value of what the figure varies. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reproduce/reproduce_parts.h"

/* Until the child has ended. What asks this program to end is handed on; a terminal's Ctrl-C has
 * reached the child already, as it reaches all of the foreground. */
static int wait_for(pid_t child, const sigset_t *awaited)
{
    siginfo_t info = {0};
    int       state = 0;

    while (waitpid(child, &state, WNOHANG) == 0) {
        int number = sigwaitinfo(awaited, &info);

        if (number == SIGTERM || (number == SIGINT && info.si_code <= 0)) (void)kill(child, number);
    }
    if (WIFSIGNALED(state)) return 128 + WTERMSIG(state);
    return WEXITSTATUS(state);
}

/* The program again, with other arguments; its exit status. */
static int run_self(words *all)
{
    sigset_t awaited, before;
    pid_t    child = 0;
    int      end = END_WELL;

    (void)sigemptyset(&awaited);
    (void)sigaddset(&awaited, SIGINT);
    (void)sigaddset(&awaited, SIGTERM);
    (void)sigaddset(&awaited, SIGCHLD);
    (void)fflush(NULL);
    (void)sigprocmask(SIG_BLOCK, &awaited, &before);
    child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* a kill cannot be handed on */
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        (void)execv("/proc/self/exe", all->word);
        _exit(END_FAILED);
    }
    if (child > 0)
        end = wait_for(child, &awaited);
    else
        end = complain(END_FAILED, "End other programs.", "cannot start a process: %s",
                       strerror(errno));
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return end;
}

static bool is_listed(const char *list, const char *one)
{
    const char *item = NULL;
    size_t      length = 0;

    while ((item = cull_list_next(&list, &length)))
        if (strlen(one) == length && memcmp(item, one, length) == 0) return true;
    return false;
}

/* With what varies, where that is a strategy's option; periods that scaling made the same are one
 * arm. */
static int add_strategies(const reproduction *r, const char *vary, words *all)
{
    char   text[MOST_WORD] = "", one[MOST_WORD / 2], scaled[MOST_WORD / 2];
    size_t length = 0, own = strlen("select.");
    bool   varies = vary && strncmp(vary, "select.", own) == 0;

    for (size_t i = 0; list_part(r->entry->strategies, i, one, sizeof one / 2); i++) {
        if (varies)
            (void)snprintf(one + strlen(one), sizeof one - strlen(one), " %.100s", vary + own);
        if (scaled_strategy(r, one, scaled, sizeof scaled)) return END_FAILED;
        if (is_listed(text, scaled)) {
            (void)printf("in so few epochs '%s' is one with an arm before it\n", one);
            continue;
        }
        (void)snprintf(text + length, sizeof text - length, "%s%s", length ? "," : "", scaled);
        length = strlen(text);
    }
    if (length + 1 >= sizeof text)
        return complain(END_FAILED, "Report this.", "the strategies do not fit a line");
    return add_word(all, "%s", text);
}

/* "key=a+b" as the change key=a,b, and more changes behind blanks; a number of epochs is scaled.
 * Keys of select are the strategies' own. */
static int add_value(const reproduction *r, const char *vary, words *all)
{
    char        copy[MOST_WORD / 2], *rest = NULL, *end_of = NULL;
    double      scale = r->state.scale.epochs;
    int         end = END_WELL;
    const char *milestones = "schedule.milestones=", *epochs = "train.epochs=";

    (void)snprintf(copy, sizeof copy, "%s", vary);
    for (char *c = copy; *c; c++)
        if (*c == '+') *c = ',';
    for (char *word = strtok_r(copy, " ", &rest); word && !end; word = strtok_r(NULL, " ", &rest)) {
        if (strncmp(word, "select.", strlen("select.")) == 0) continue;
        if (strncmp(word, epochs, strlen(epochs)) == 0)
            end = add_word(all, "%s%.0f", epochs,
                           fmax(1, round(strtod(word + strlen(epochs), &end_of) * scale)));
        else if (strncmp(word, milestones, strlen(milestones)) == 0 && scale != 1)
            end = add_scaled(all, "schedule.milestones", word + strlen(milestones), scale);
        else
            end = add_word(all, "%s", word);
    }
    return end;
}

/* Changes of the figure, but for the key that varies. */
static int add_changes(const reproduction *r, const char *vary, words *all)
{
    size_t key = vary ? strcspn(vary, "=") : 0;
    int    end = END_WELL;

    for (size_t i = 0; !end && i < r->changes.count; i++) {
        const char *word = r->changes.word[i];

        if (key && strcspn(word, "=") == key && strncmp(word, vary, key) == 0) continue;
        end = add_word(all, "%s", word);
    }
    return !end && vary ? add_value(r, vary, all) : end;
}

/* The share that a strategy keeps by its own rule, or NaN. */
static double own_share(const char *strategy)
{
    const cull_strategy *found = cull_strategy_of(strategy);

    if (!found || !(found->traits & CULL_KEEPS_BY_POWER)) return NAN;
    return 1 / (1 + option_of(strategy, "beta", 1));
}

/* Does it score a batch before every step? */
static bool scores_all(const char *strategy)
{
    const cull_strategy *found = cull_strategy_of(strategy);
    cull_strategy_text   text = {0};
    bool                 all = false;

    if (!found || cull_strategy_text_read(strategy, &text)) return false;
    all = found->runs == CULL_RUNS_STEP && found->signals != 0 && !text.modifier[0];
    cull_strategy_text_clear(&text);
    return all;
}

/* A scoring pass before every step costs a third of what training all would. */
static void warn_of(const char *strategy, double share)
{
    if (scores_all(strategy) && share > 2. / 3 - 1e-9)
        (void)printf(
            "warning: %s cannot save anything: scoring a batch costs a third of training it, and "
            "%.0f %% of it is then trained\n",
            strategy, 100 * share);
}

static void warn(const reproduction *r)
{
    char  strategy[MOST_WORD / 2], keep[32];
    char *rest = NULL;

    for (size_t i = 0; list_part(r->entry->strategies, i, strategy, sizeof strategy); i++) {
        double own = own_share(strategy);

        if (!isnan(own)) warn_of(strategy, own);
        for (size_t k = 0;
             isnan(own) && r->entry->keep && list_part(r->entry->keep, k, keep, sizeof keep); k++)
            warn_of(strategy, strtod(keep, &rest));
    }
}

static int compare(const reproduction *r, const char *vary, const char *folder)
{
    char        file[MOST_WORD + 32];
    struct stat info = {0};
    words       all = {0};
    uint64_t    seeds = r->state.scale.seeds;
    int         end = END_WELL;

    (void)snprintf(file, sizeof file, "%.1100s/plan.json", folder);
    end = add_word(&all, "cull") || add_word(&all, "compare") || add_word(&all, "%s", r->recipe) ||
          add_changes(r, vary, &all) || add_word(&all, "--strategies") ||
          add_strategies(r, vary, &all) || (r->entry->keep && add_word(&all, "--keep")) ||
          (r->entry->keep && add_word(&all, "%s", r->entry->keep)) || add_word(&all, "--seeds") ||
          add_word(&all, "%llu", (unsigned long long)(seeds ? seeds : r->entry->seeds)) ||
          add_word(&all, "--anyway") || add_word(&all, "--out") || add_word(&all, "%s", folder) ||
          (stat(file, &info) == 0 && add_word(&all, "--resume"));
    if (end) end = END_FAILED;
    if (!end) {
        (void)printf("\n$");
        for (size_t i = 0; i < all.count; i++)
            (void)printf(strchr(all.word[i], ' ') ? " '%s'" : " %s", all.word[i]);
        (void)printf("\n");
        if (!r->plan) end = run_self(&all);
    }
    clear_words(&all);
    return end;
}

int reproduce_compare(const reproduction *r)
{
    const char *vary = r->entry->vary;
    char        value[128], one[MOST_WORD / 2], folder[MOST_WORD];
    int         end = END_WELL;

    warn(r);
    (void)snprintf(folder, sizeof folder, "%.1000s/controls", r->state.folder);
    if (!vary) end = compare(r, NULL, folder);
    for (size_t i = 0; vary && !end && list_part(strchr(vary, '=') + 1, i, value, sizeof value);
         i++) {
        (void)snprintf(one, sizeof one, "%.*s=%s", (int)strcspn(vary, "="), vary, value);
        (void)snprintf(folder, sizeof folder, "%.900s/controls/%.*s", r->state.folder,
                       (int)strcspn(value, " "), value);
        (void)printf("\n%s\n", one);
        end = compare(r, one, folder);
    }
    return end ? end : end_output(END_WELL);
}
