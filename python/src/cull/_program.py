"""The program `cull` as a child process, where it is installed: training and comparing as recipes say."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
from typing import Any, Callable, Iterable, Mapping

from . import _abi
from ._library import CullError, CullValueError
from ._strategies import value_text

Progress = Callable[[str], None]


class CullProgramError(CullError):
    """The program is not there, or failed. Its text is the program's sentence; `code` its exit status, where it had
    one, and `folder` what it wrote until then."""

    def __init__(self, message: str, status: str = "FAILED", subject: str = "", code: int | None = None,
                 folder: str = "") -> None:
        super().__init__(message, status, subject)
        self.code, self.folder = code, folder

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status, self.subject, self.code, self.folder)


def find_program(program: str | os.PathLike[str] | None = None) -> str:
    """Where `cull` is: as given, as CULL_PROGRAM says, or as the PATH finds it."""
    said = program or os.environ.get("CULL_PROGRAM")
    found = shutil.which(os.fspath(said or "cull"))
    if found is None:
        where = f"{os.fspath(said)} is no program" if said else "the program cull is not on the PATH"
        raise CullProgramError(f"{where}: build it with `make` in a clone of the tree, install it with `make install`, or "
                               "name it with CULL_PROGRAM", "NOT_FOUND", os.fspath(said or "cull"))
    return found


def _changes(given: Mapping[str, Any], before: str = "") -> Iterable[str]:
    """key=value of each override: nested mappings are sections of the recipe, a double underscore stands for the dot."""
    for key, value in given.items():
        whole = before + key.replace("__", ".")
        if isinstance(value, Mapping):
            yield from _changes(value, whole + ".")
        elif value is not None:
            yield f"{whole}={value_text(whole, value)}"


def _read_lines(stream: Any, take: Callable[[str], Any] | None) -> None:
    for line in stream:
        if take is not None:
            take(line.rstrip("\n"))


class _Child:
    """One run of the program: its lines as they come, its failure as it tells it."""

    def __init__(self, command: list[str], told: bool) -> None:
        self.told = ""
        read, write = os.pipe() if told else (-1, -1)
        more = ["--status-fd", str(write)] if told else []
        try:
            self.process = subprocess.Popen(command + more, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                            stdin=subprocess.DEVNULL, text=True, errors="replace",
                                            pass_fds=(write,) if told else ())
        except OSError as why:
            if told:
                os.close(read)
            raise CullProgramError(f"{command[0]} cannot be started: {why}", "IO", command[0]) from None
        finally:
            if told:
                os.close(write)
        self._status = read

    def run(self, progress: Progress | None) -> tuple[int, list[str]]:
        """Wait for its end. Whatever ends the wait early ends the program too, after its step."""
        errors: list[str] = []
        watch = threading.Thread(target=_read_lines, args=(self.process.stderr, errors.append), daemon=True)
        watch.start()
        try:
            _read_lines(self.process.stdout, progress)
            code = self.process.wait()
        except BaseException:
            self.process.terminate()
            _read_lines(self.process.stdout, None)
            self.process.wait()
            raise
        finally:
            watch.join()
            self.process.stdout.close()  # type: ignore[union-attr]
            self.process.stderr.close()  # type: ignore[union-attr]
            if self._status >= 0:
                with os.fdopen(self._status, encoding="utf-8", errors="replace") as pipe:
                    self.told = pipe.read()
        return code, errors


def _fail(code: int, errors: list[str], told: str, folder: str) -> CullProgramError:
    parts = told.split("\n")
    if len(parts) >= 3 and parts[0].isdigit():
        return CullProgramError(parts[2], _abi.STATUS_NAMES.get(int(parts[0]), parts[0]), parts[1], code, folder)
    said = " ".join(line.strip() for line in errors if line.strip())
    return CullProgramError(said.removeprefix("cull: ") or f"the program ended with {code}", "FAILED", "", code, folder)


def _run(command: str, recipe: Any, out: Any, kind: str, flags: list[str], told: bool, program: Any,
         overrides: Mapping[str, Any], progress: Progress | None) -> pathlib.Path:
    """Run a command on a recipe, which is a file or what would stand in one. Returns its folder."""
    binary = find_program(program)
    with tempfile.TemporaryDirectory(prefix="cull-") as work:
        if isinstance(recipe, Mapping):
            path = pathlib.Path(work) / "recipe.yaml"
            path.write_text(json.dumps(recipe), encoding="utf-8")
        else:
            path = pathlib.Path(os.fspath(recipe))
        folder = pathlib.Path(kind) / path.stem if out is None else pathlib.Path(os.fspath(out))
        child = _Child([binary, command, str(path), *_changes(overrides), "--out", str(folder), *flags], told)
        code, errors = child.run(progress)
    if code:
        raise _fail(code, errors, child.told, str(folder))
    return folder


def _load(path: pathlib.Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as why:
        raise CullProgramError(f"{path} cannot be read: {why}", "BAD_FILE", str(path)) from None


def _load_lines(path: pathlib.Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as why:
        raise CullProgramError(f"{path} cannot be read: {why}", "BAD_FILE", str(path)) from None


def train(recipe: str | os.PathLike[str] | Mapping[str, Any], *, out: str | os.PathLike[str] | None = None,
          resume: bool = False, progress: Progress | None = None, program: str | os.PathLike[str] | None = None,
          **overrides: Any) -> dict[str, Any]:
    """Train a network as a recipe says, by `cull train` in a process of its own.

    recipe     a file, or a mapping of what would stand in one: {"data": {"name": "fashion-mnist"}, ...}
    overrides  of what it says, by section or with two underscores for the dot: train={"epochs": 3}, or train__epochs=3
    out        the run's folder (runs/RECIPE)
    resume     go on with the run that is there
    progress   called with each line that the program prints
    program    where it is; else CULL_PROGRAM says so, or the PATH

    Returns {"folder": ..., "run": run.json as a dict, "metrics": metrics.jsonl as a list of dicts}. Raises
    `CullProgramError` with the program's sentence. Interrupting the call ends the run after its step, with a
    checkpoint.
    """
    folder = _run("train", recipe, out, "runs", ["--resume"] if resume else [], True, program, overrides, progress)
    return {"folder": str(folder), "run": _load(folder / "run.json"), "metrics": _load_lines(folder / "metrics.jsonl")}


def compare_recipe(recipe: str | os.PathLike[str] | Mapping[str, Any], strategies: str | Iterable[str], *,
                   keep: float | Iterable[float] | None = None, seeds: int | None = None, jobs: int | None = None,
                   threads: int | None = None, margin: float | None = None, passes: str | Iterable[str] | None = None,
                   anyway: bool = False, out: str | os.PathLike[str] | None = None, resume: bool = False,
                   progress: Progress | None = None, program: str | os.PathLike[str] | None = None,
                   **overrides: Any) -> dict[str, Any]:
    """Ask the referee, `cull compare`: which strategy pays, at the same cost?

    strategies  what to compare: ["sb", "sb remembered"], or a text with commas between
    keep        shares of the examples to keep; seeds, jobs, threads, margin, anyway and resume as the program's flags,
                passes as its --pass
    out         the comparison's folder (compare/RECIPE)

    The other arguments are those of `train`. Returns what comparison.json holds, with its "folder" and the runs'
    "records": {name of the run: {"run": ..., "metrics": ...}}.
    """
    def text(value: Any) -> str:
        if isinstance(value, str) or not isinstance(value, Iterable):
            return value_text("list", value)
        return ",".join(value_text("list", one) for one in value)

    flags = ["--strategies", text(strategies)]
    for name, value in (("--keep", keep), ("--seeds", seeds), ("--jobs", jobs), ("--threads", threads),
                        ("--margin", margin), ("--pass", passes)):
        if value is not None:
            flags += [name, text(value)]
    flags += ["--anyway"] * anyway + ["--resume"] * resume
    folder = _run("compare", recipe, out, "compare", flags, False, program, overrides, progress)
    found = _load(folder / "comparison.json")
    if not isinstance(found, dict):
        raise CullValueError(f"{folder}/comparison.json holds no comparison", "BAD_FILE", str(folder))
    runs = sorted((folder / "runs").glob("**/run.json"))
    found["folder"] = str(folder)
    found["records"] = {str(path.parent.relative_to(folder / "runs")):
                        {"run": _load(path), "metrics": _load_lines(path.parent / "metrics.jsonl")} for path in runs}
    return found
