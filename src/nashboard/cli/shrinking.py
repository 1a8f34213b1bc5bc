"""A file that is cut while Polars has it mapped into memory: one sentence instead of a death by the system.

A look at a page that is no longer there raises SIGBUS, which ends a process without a word. Python cannot answer it:
its own handlers run after the look is done, which it never is. So the command, and only the command, has a handler in
machine code while it reads. It may not touch Python or memory of the library, and calls what POSIX allows there: it
writes a sentence that was made before, and exits. The temporary folder stays, and the next run sweeps it.
"""

import contextlib
import ctypes
import os
import signal
import sys
import warnings
from collections.abc import Iterator

WRONG_INPUT = 2
SHOWN_AGAIN = "\r\x1b[K\x1b[?25h"  # on a terminal: no half line of progress, and the cursor that it hid
DATASET = "dataset:"  # is inside the package
# Several threads may look at once: who takes the only byte out of a pipe speaks, and the others wait for the end.
HANDLER = """
declare i64 @read(i32, i64, i64)
declare i64 @write(i32, i64, i64)
declare void @_exit(i32)

define void @answer(i32 %signal) {{
  br label %ask
ask:
  %taken = call i64 @read(i32 {pipe}, i64 {byte}, i64 1)
  %mine = icmp eq i64 %taken, 1
  br i1 %mine, label %speak, label %ask
speak:
  %said = call i64 @write(i32 {place}, i64 {text}, i64 {length})
  call void @_exit(i32 {code})
  br label %speak
}}
"""


@contextlib.contextmanager
def named_if_it_shrinks(source: str) -> Iterator[None]:
    """End the command with a sentence about this source where SIGBUS would end it; for as long as the block runs."""
    try:
        place = os.dup(sys.stderr.fileno())  # for the block may send standard error elsewhere
    except (OSError, ValueError, AttributeError):  # no file behind it, as in tests and notebooks
        place = None
    if place is None or not hasattr(signal, "SIGBUS") or source.startswith(DATASET):
        yield
        return
    text = (
        f"{SHOWN_AGAIN if sys.stderr.isatty() else ''}nashboard: {source!r} changed while it was read: it shrank, or "
        f"its disk failed; read it again when nothing writes to it, or read a copy\n"
    ).encode(errors="replace")
    message, byte, (taking, giving) = ctypes.create_string_buffer(text), ctypes.create_string_buffer(1), os.pipe()
    os.write(giving, b"!")
    code = HANDLER.format(
        pipe=taking,
        byte=ctypes.addressof(byte),
        place=place,
        text=ctypes.addressof(message),
        length=len(text),
        code=WRONG_INPUT,
    )
    try:
        with answered_by(code):
            yield
    finally:
        for descriptor in (place, taking, giving):
            os.close(descriptor)


@contextlib.contextmanager
def answered_by(code: str) -> Iterator[None]:
    """Compile a handler, and let it answer SIGBUS inside the block."""
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        llvm.initialize()  # newer versions do it themselves, and refuse to be asked
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(code), machine)
    engine.finalize_object()
    install = ctypes.CDLL(None).signal
    install.argtypes, install.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    before = install(signal.SIGBUS, engine.get_function_address("answer"))
    try:
        yield
    finally:
        install(signal.SIGBUS, before)
        engine.close()
