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

static void begin(void)
{
#ifdef SANITIZED
    __sanitizer_finish_switch_fiber(NULL, &caller_bottom, &caller_size);
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
    __sanitizer_start_switch_fiber(&caller.fake, fibre->stack, STACK);
    change(&caller, fibre);
    __sanitizer_finish_switch_fiber(caller.fake, NULL, NULL);
#else
    change(&caller, fibre);
#endif
}

void emu_fibre_pause(void)
{
#ifdef SANITIZED
    struct emu_fibre *own = running;

    __sanitizer_start_switch_fiber(&own->fake, caller_bottom, caller_size);
    change(own, &caller);
    __sanitizer_finish_switch_fiber(own->fake, &caller_bottom, &caller_size);
#else
    change(running, &caller);
#endif
}

void emu_fibre_end(void)
{
#ifdef SANITIZED
    __sanitizer_start_switch_fiber(NULL, caller_bottom, caller_size);
#endif
    change(running, &caller);
}

void emu_fibre_drop(struct emu_fibre *fibre)
{
    fibre->next = unused;
    unused = fibre;
}
