"""What libcull_select offers, as ctypes sees it. Printed by tools/abi.py from cull.h: not to be edited.

Structs are laid out as the header says, constants have its names, and `declare` gives a library's functions their
types. Those that take a varying number of arguments are left out.
"""
from __future__ import annotations

from ctypes import (CDLL, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p)

CULL_OK = 0
CULL_NO_MEMORY = 1
CULL_BAD_ARGUMENT = 2
CULL_BAD_OPTION = 3
CULL_NOT_FINITE = 4
CULL_UNKNOWN_OPTION = 5
CULL_UNKNOWN_STRATEGY = 6
CULL_UNKNOWN_MODEL = 7
CULL_UNKNOWN_SET = 8
CULL_NO_SAVING = 9
CULL_BAD_FILE = 10
CULL_IO = 11
CULL_EXISTS = 12
CULL_BUSY = 13
CULL_DIFFERS = 14
CULL_NOT_FOUND = 15
CULL_STOPPED = 16
CULL_UNSUPPORTED = 20
CULL_BAD_STATE = 21
CULL_TOO_LARGE = 22
CULL_DEVICE = 23
CULL_VERSION_MAJOR = 0
CULL_VERSION_MINOR = 1
CULL_VERSION_PATCH = 0
CULL_STRATEGY_ABI = 3
CULL_F32 = 1
CULL_F64 = 2
CULL_I32 = 3
CULL_I64 = 4
CULL_U8 = 5
CULL_BF16 = 6
CULL_MAX_DIMS = 4
CULL_DEVICE_HOST = 0
CULL_DEVICE_CUDA = 2
CULL_SIGNAL_LOSS = 1
CULL_SIGNAL_H = 2
CULL_SIGNAL_P = 4
CULL_SIGNAL_LABEL = 8
CULL_SIGNAL_IRREDUCIBLE = 16
CULL_SIGNAL_LOGITS = 32
CULL_SUBSET_FILLED = 1
CULL_SUBSET_FALLBACK = 2
CULL_SUBSET_SHORT = 4
CULL_SUBSET_LATE = 8
CULL_TRAIN_ALL = 0
CULL_SELECT_BATCH = 1
CULL_SELECT_POOL = 2
CULL_KEEP_SUBSET = 3
CULL_OPTION_INT = 0
CULL_OPTION_REAL = 1
CULL_OPTION_CHOICE = 2
CULL_OPTION_BOOL = 3
CULL_OPTION_TEXT = 4
CULL_OPTION_LIST = 5
CULL_OPTION_LAYERS = 6
CULL_RUNS_STEP = 0
CULL_RUNS_EPOCH = 1
CULL_RUNS_PERIOD = 2
CULL_RUNS_ONCE = 3
CULL_TAKES_STALE = 1
CULL_TAKES_REMEMBERED = 2
CULL_NO_BUDGET = 4
CULL_SAMPLES = 8
CULL_COMES_SHORT = 16
CULL_HOST_SIGNALS = 32
CULL_UNIFORM = 64
CULL_KEEPS_ALL = 128
CULL_KEEPS_BY_POWER = 256
CULL_PICK_ABS = 0
CULL_PICK_SIGNED = 1
CULL_PICK_SAMPLE = 2
CULL_OMP_BUDGET = 0
CULL_OMP_FIT = 1
CULL_OMP_DEPENDENT = 2
CULL_OMP_NO_GAIN = 3
CULL_OMP_ZERO_TARGET = 4
CULL_GREEDY_LAZY = 0
CULL_GREEDY_NAIVE = 1
CULL_GREEDY_STOCHASTIC = 2

STATUS_NAMES = {0: "OK", 1: "NO_MEMORY", 2: "BAD_ARGUMENT", 3: "BAD_OPTION", 4: "NOT_FINITE", 5: "UNKNOWN_OPTION",
        6: "UNKNOWN_STRATEGY", 7: "UNKNOWN_MODEL", 8: "UNKNOWN_SET", 9: "NO_SAVING", 10: "BAD_FILE", 11: "IO",
        12: "EXISTS", 13: "BUSY", 14: "DIFFERS", 15: "NOT_FOUND", 16: "STOPPED", 20: "UNSUPPORTED", 21: "BAD_STATE",
        22: "TOO_LARGE", 23: "DEVICE"}


class cull_allocator(Structure):
    _fields_ = [
        ("allocate", c_void_p),
        ("reallocate", c_void_p),
        ("release", c_void_p),
        ("context", c_void_p),
    ]


class cull_device(Structure):
    _fields_ = [
        ("kind", c_int32),
        ("number", c_int32),
    ]


class cull_tensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("dtype", c_int),
        ("dims", c_int),
        ("shape", c_int64 * 4),
        ("stride", c_int64 * 4),
        ("device", cull_device),
    ]


class cull_backend_facts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("free", c_size_t),
        ("total", c_size_t),
        ("versions", c_char * 112),
        ("bus", c_char * 16),
    ]


class cull_target(Structure):
    _fields_ = [
        ("count", c_size_t),
        ("h", cull_tensor),
        ("p", cull_tensor),
        ("label", cull_tensor),
        ("logits", cull_tensor),
    ]


class cull_signals(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_size_t),
        ("place", c_void_p),
        ("step", c_uint64),
        ("epoch", c_uint64),
        ("loss", cull_tensor),
        ("h", cull_tensor),
        ("p", cull_tensor),
        ("label", cull_tensor),
        ("irreducible", cull_tensor),
        ("unseen", c_void_p),
        ("target", cull_target),
        ("device", cull_device),
        ("passes", c_void_p),
        ("lent", c_uint64),
    ]


class cull_subset(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_size_t),
        ("room", c_size_t),
        ("index", c_void_p),
        ("place", c_void_p),
        ("weight", c_void_p),
        ("group", c_void_p),
        ("groups", c_size_t),
        ("picked", c_size_t),
        ("flags", c_uint),
        ("device", cull_device),
        ("backend", c_void_p),
        ("outcome", c_void_p),
    ]


class cull_option(Structure):
    _fields_ = [
        ("key", c_char_p),
        ("value", c_char_p),
    ]


class cull_setting(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("pool", c_size_t),
        ("batch", c_size_t),
        ("epochs", c_uint64),
        ("steps", c_uint64),
        ("seed", c_uint64),
        ("backend", c_void_p),
    ]


class cull_needs(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("action", c_int),
        ("signals", c_uint),
        ("target", c_uint),
        ("observe", c_uint),
        ("running", c_bool),
        ("candidates", c_size_t),
        ("budget", c_size_t),
    ]


class cull_option_spec(Structure):
    _fields_ = [
        ("key", c_char_p),
        ("type", c_int),
        ("fallback", c_char_p),
        ("low", c_double),
        ("high", c_double),
        ("words", c_char_p),
        ("doc", c_char_p),
    ]


class cull_self(Structure):
    _fields_ = [
        ("setting", POINTER(cull_setting)),
        ("values", c_void_p),
        ("state", c_void_p),
        ("losses", c_void_p),
        ("call", c_void_p),
        ("watch", c_void_p),
    ]


class cull_strategy(Structure):
    _fields_ = [
        ("abi", c_uint32),
        ("name", c_char_p),
        ("doc", c_char_p),
        ("runs", c_int),
        ("traits", c_uint),
        ("signals", c_uint),
        ("options", POINTER(cull_option_spec)),
        ("state_size", c_size_t),
        ("create", c_void_p),
        ("destroy", c_void_p),
        ("needs", c_void_p),
        ("decide", c_void_p),
        ("observe", c_void_p),
        ("flush", c_void_p),
        ("save", c_void_p),
        ("restore", c_void_p),
    ]


class cull_strategy_text(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("modifier", c_char_p),
        ("option", POINTER(cull_option)),
        ("options", c_size_t),
    ]


class cull_key(Structure):
    _fields_ = [
        ("word", c_uint32 * 2),
    ]


class cull_omp_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ridge", c_double),
        ("tolerance", c_double),
        ("nonnegative", c_bool),
        ("pick", c_int),
        ("key", cull_key),
        ("step", c_uint64),
        ("memory", c_size_t),
        ("absolute", c_bool),
    ]


class cull_omp_problem(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_size_t),
        ("budget", c_size_t),
        ("k", cull_tensor),
        ("t", c_void_p),
        ("b2", c_double),
        ("noise", c_double),
        ("h", cull_tensor),
        ("p", cull_tensor),
        ("row", c_void_p),
        ("column", c_int32),
        ("b", c_void_p),
        ("index", c_void_p),
        ("weight", c_void_p),
        ("picked", c_size_t),
        ("residual", c_double),
        ("ridge", c_double),
        ("stop", c_int),
    ]


class cull_facility_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("greedy", c_int),
        ("sample", c_double),
        ("key", cull_key),
        ("step", c_uint64),
        ("memory", c_size_t),
    ]


class cull_facility_problem(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_size_t),
        ("budget", c_size_t),
        ("similarity", cull_tensor),
        ("h", cull_tensor),
        ("p", cull_tensor),
        ("row", c_void_p),
        ("index", c_void_p),
        ("weight", c_void_p),
        ("value", c_double),
    ]


class cull_subset_arrays(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("index", c_void_p),
        ("place", c_void_p),
        ("group", c_void_p),
        ("weight", c_void_p),
        ("dtype", c_int),
        ("scale", c_double),
    ]


class cull_calls(Structure):
    _fields_ = [
        ("fail", c_void_p),
        ("subset_resize", c_void_p),
        ("value_real", c_void_p),
        ("value_int", c_void_p),
        ("value_bool", c_void_p),
        ("value_text", c_void_p),
        ("value_is", c_void_p),
        ("write", c_void_p),
        ("read", c_void_p),
        ("key_make", c_void_p),
        ("key_uniform", c_void_p),
        ("budget", c_void_p),
        ("budget_split", c_void_p),
        ("omp", c_void_p),
        ("gram", c_void_p),
        ("facility", c_void_p),
    ]


class cull_diagnosis(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("error", c_double),
        ("full", c_double),
        ("cosine", c_double),
        ("effective", c_double),
        ("overlap", c_double),
        ("classes", c_size_t),
        ("available", c_void_p),
        ("chosen", c_void_p),
    ]


FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "cull_version": (c_char_p, []),
    "cull_status_name": (c_char_p, [c_int]),
    "cull_status_text": (c_char_p, [c_int]),
    "cull_last_error": (c_char_p, []),
    "cull_last_subject": (c_char_p, []),
    "cull_allocator_set": (None, [POINTER(cull_allocator)]),
    "cull_vector": (cull_tensor, [c_void_p, c_int, c_size_t]),
    "cull_matrix": (cull_tensor, [c_void_p, c_int, c_size_t, c_size_t]),
    "cull_images": (cull_tensor, [c_void_p, c_int, c_size_t, c_size_t, c_size_t, c_size_t]),
    "cull_dtype_size": (c_size_t, [c_int]),
    "cull_dtype_name": (c_char_p, [c_int]),
    "cull_tensor_from_dlpack": (c_int, [c_void_p, POINTER(cull_tensor)]),
    "cull_backend_open": (c_int, [c_char_p, c_uint, POINTER(c_void_p)]),
    "cull_backend_close": (None, [c_void_p]),
    "cull_backend_describe": (c_char_p, [c_void_p]),
    "cull_backend_look": (c_int, [c_void_p, POINTER(cull_backend_facts)]),
    "cull_subset_clear": (None, [POINTER(cull_subset)]),
    "cull_subset_resize": (c_int, [POINTER(cull_subset), c_size_t]),
    "cull_selector_create": (c_int, [c_char_p, POINTER(cull_option), c_size_t, POINTER(cull_setting),
        POINTER(c_void_p)]),
    "cull_selector_destroy": (None, [c_void_p]),
    "cull_selector_name": (c_char_p, [c_void_p]),
    "cull_selector_options": (c_char_p, [c_void_p]),
    "cull_selector_epochs": (c_uint64, [c_void_p]),
    "cull_selector_needs": (c_int, [c_void_p, c_uint64, c_uint64, POINTER(cull_needs)]),
    "cull_selector_reads": (c_int, [c_void_p, POINTER(cull_needs)]),
    "cull_select": (c_int, [c_void_p, POINTER(cull_signals), c_size_t, POINTER(cull_subset)]),
    "cull_observe": (c_int, [c_void_p, POINTER(cull_signals)]),
    "cull_flush": (c_int, [c_void_p, POINTER(cull_subset)]),
    "cull_selector_save": (c_int, [c_void_p, POINTER(c_void_p), c_void_p]),
    "cull_selector_restore": (c_int, [c_void_p, c_void_p, c_size_t]),
    "cull_bytes_release": (None, [c_void_p]),
    "cull_budget": (c_size_t, [c_double, c_size_t]),
    "cull_budget_split": (None, [c_size_t, c_void_p, c_size_t, c_void_p]),
    "cull_value_real": (c_double, [c_void_p, c_char_p]),
    "cull_value_int": (c_int64, [c_void_p, c_char_p]),
    "cull_value_bool": (c_bool, [c_void_p, c_char_p]),
    "cull_value_text": (c_char_p, [c_void_p, c_char_p]),
    "cull_value_is": (c_bool, [c_void_p, c_char_p, c_char_p]),
    "cull_write": (c_int, [c_void_p, c_void_p, c_size_t]),
    "cull_read": (c_int, [c_void_p, c_void_p, c_size_t]),
    "cull_strategy_at": (POINTER(cull_strategy), [c_size_t]),
    "cull_strategy_find": (POINTER(cull_strategy), [c_char_p]),
    "cull_strategy_option_at": (POINTER(cull_option_spec), [POINTER(cull_strategy), c_size_t]),
    "cull_strategy_option": (POINTER(cull_option_spec), [POINTER(cull_strategy), c_char_p]),
    "cull_strategy_text_read": (c_int, [c_char_p, POINTER(cull_strategy_text)]),
    "cull_strategy_text_clear": (None, [POINTER(cull_strategy_text)]),
    "cull_strategy_text_value": (c_char_p, [POINTER(cull_strategy_text), c_char_p]),
    "cull_strategy_text_write": (c_size_t, [POINTER(cull_strategy_text), c_void_p, c_size_t]),
    "cull_strategy_of": (POINTER(cull_strategy), [c_char_p]),
    "cull_list_next": (c_char_p, [POINTER(c_char_p), c_void_p]),
    "cull_key_make": (cull_key, [c_uint64, c_char_p]),
    "cull_key_uniform": (c_double, [cull_key, c_uint64, c_uint64]),
    "cull_omp": (c_int, [c_void_p, POINTER(cull_omp_problem), c_size_t, POINTER(cull_omp_options)]),
    "cull_gram": (c_int, [c_void_p, POINTER(cull_tensor), POINTER(cull_tensor), POINTER(cull_target), c_void_p,
        c_void_p, c_void_p]),
    "cull_facility": (c_int, [c_void_p, POINTER(cull_facility_problem), c_size_t, POINTER(cull_facility_options)]),
    "cull_backend_follow": (c_int, [c_void_p, c_void_p]),
    "cull_backend_leave": (c_int, [c_void_p]),
    "cull_memory_allocate": (c_int, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "cull_memory_release": (None, [c_void_p, c_void_p]),
    "cull_memory_upload": (c_int, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "cull_memory_download": (c_int, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "cull_subset_give": (c_int, [POINTER(cull_subset), POINTER(cull_subset_arrays)]),
    "cull_places_take": (c_int, [c_void_p, POINTER(cull_tensor), c_void_p]),
    "cull_diagnose": (c_int, [c_void_p, POINTER(cull_signals), POINTER(cull_subset), POINTER(cull_subset),
        POINTER(cull_diagnosis)]),
    "cull_diagnosis_clear": (None, [POINTER(cull_diagnosis)]),
}


def declare(library: CDLL) -> CDLL:
    """Give the functions of a library their types."""
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library
