/*
 * tests/emu/emu_fibre.c - functions that can be left in the middle: a stack each, and a switch.
 *
 * A stack that has become free is the next fibre's, so functions that end without a pause share
 * one. Behind the end of each lies a page that nobody may touch.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu_inside.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
#define BY_CONTEXT 1
#include <ucontext.h>
#endif

#ifdef SANITIZED
enum { STACK = 256 << 10 };
void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *size);
#else
enum { STACK = 64 << 10 };
#endif

struct emu_fibre {
    struct emu_fibre *next; /* of those that are free */
    char             *stack;
    void (*run)(void);
#ifdef BY_CONTEXT
    ucontext_t context;
#else
    void *at; /* what the switch left on the stack */
#endif
#ifdef SANITIZED
    void *fake;
#endif
};

static struct emu_fibre *running, *unused;
/* Who called emu_fibre_go. */
static struct emu_fibre caller;
#ifdef SANITIZED
static const void *caller_bottom;
static size_t      caller_size;
static bool        from_caller;
#endif

/* ---- from one stack to another ---- */

#ifdef BY_CONTEXT
static void begin(void);

static void change(struct emu_fibre *from, struct emu_fibre *to)
{
    emu_insist(swapcontext(&from->context, &to->context) == 0, "no change of context");
}

static void prepare(struct emu_fibre *fibre)
{
    (void)getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = fibre->stack;
    fibre->context.uc_stack.ss_size = STACK;
    makecontext(&fibre->context, begin, 0);
}
#else
/* What a function must find again is pushed here, the stack is changed, and it is popped there. */
void emu_change(void **from, void *to);
#ifdef __x86_64__
__asm__(".text\n"
        ".globl emu_change\n"
        ".hidden emu_change\n"
        ".type emu_change,@function\n"
        "emu_change:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n"
        "    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n"
        "    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size emu_change,.-emu_change\n");
enum { WORDS = 8, RETURN = 6 }; /* six registers, the address, and one for the border */
#else
__asm__(".text\n"
        ".globl emu_change\n"
        ".hidden emu_change\n"
        ".type emu_change,%function\n"
        "emu_change:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size emu_change,.-emu_change\n");
enum { WORDS = 20, RETURN = 11 };
#endif

static void begin(void);

static void change(struct emu_fibre *from, struct emu_fibre *to)
{
    emu_change(&from->at, to->at);
}

static void prepare(struct emu_fibre *fibre)
{
    void **top = (void **)(void *)(fibre->stack + STACK) - WORDS;
    void (*first)(void) = begin;

    for (int i = 0; i < WORDS; i++) top[i] = NULL;
    top[RETURN] = *(void **)&first;
    fibre->at = top;
}
#endif

/* ---- fibres ---- */

#ifdef SANITIZED
/* Behind a switch: whose stack was left is known now. */
static void arrive(void *fake)
{
    const void *bottom = NULL;
    size_t      size = 0;

    __sanitizer_finish_switch_fiber(fake, &bottom, &size);
    if (!from_caller) return;
    caller_bottom = bottom;
    caller_size = size;
}
#endif

static void begin(void)
{
#ifdef SANITIZED
    arrive(NULL);
#endif
    running->run();
    emu_insist(false, "a fibre ran beyond its end");
}

static void make_stack(struct emu_fibre *fibre)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char  *mapped = mmap(NULL, page + STACK, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    emu_insist(mapped != MAP_FAILED && mprotect(mapped, page, PROT_NONE) == 0, "no stack");
    fibre->stack = mapped + page;
}

struct emu_fibre *emu_fibre_start(void (*run)(void))
{
    struct emu_fibre *fibre = unused;

    if (fibre) {
        unused = fibre->next;
    } else {
        fibre = calloc(1, sizeof *fibre);
        emu_insist(fibre != NULL, "no memory");
        make_stack(fibre);
    }
    fibre->run = run;
    prepare(fibre);
    return fibre;
}

void emu_fibre_go(struct emu_fibre *fibre)
{
    running = fibre;
#ifdef SANITIZED
    from_caller = true;
    __sanitizer_start_switch_fiber(&caller.fake, fibre->stack, STACK);
    change(&caller, fibre);
    __sanitizer_finish_switch_fiber(caller.fake, NULL, NULL);
#else
    change(&caller, fibre);
#endif
}

static void leave_to(struct emu_fibre *own, struct emu_fibre *to, bool ends)
{
    running = to;
#ifdef SANITIZED
    from_caller = false;
    __sanitizer_start_switch_fiber(ends ? NULL : &own->fake, to ? to->stack : caller_bottom,
                                   to ? STACK : caller_size);
#endif
    change(own, to ? to : &caller);
#ifdef SANITIZED
    arrive(own->fake);
#endif
    if (ends) emu_insist(false, "a fibre went on that had ended");
}

void emu_fibre_pass(struct emu_fibre *to)
{
    leave_to(running, to, false);
}

void emu_fibre_end(struct emu_fibre *to)
{
    struct emu_fibre *own = running;

    own->next = unused;
    unused = own;
    leave_to(own, to, true);
}

struct emu_fibre *emu_fibre_own(void)
{
    return running;
}
