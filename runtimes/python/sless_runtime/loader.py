"""Finds and imports the handler that an entry point names."""

import importlib
import importlib.util
import os
import site
import sys

from .log import own_frames_skipped
from .settings import refuse


def load_handler(settings):
    """The function of the entry point. Ends the process with exit code 65 and a reason when there is none."""
    module_name, name = split_entrypoint(settings.entrypoint)
    path = find_file(settings, module_name)
    make_importable(settings, os.path.dirname(path))
    shown = os.path.relpath(path, settings.source)
    module = _import(settings, path, shown)
    handler = getattr(module, name, None)
    if not callable(handler):
        refuse(missing_function(shown, name, module, handler, settings.entrypoint))
    return handler


def split_entrypoint(entrypoint):
    """`src/handler.handle`, `src.handler:handle` → module and function."""
    at = max(entrypoint.rfind("."), entrypoint.rfind(":"))
    if at < 1 or at == len(entrypoint) - 1:
        refuse(f"the entry point {entrypoint} is not module.function; write for example handler.handle")
    return entrypoint[:at], entrypoint[at + 1 :]


def find_file(settings, module):
    bases = [module] if "/" in module else [module, module.replace(".", "/")]
    for base in bases:
        exact = [base] if base.endswith(".py") else []
        for candidate in [base + ".py", *exact, base + "/__init__.py"]:
            path = os.path.normpath(os.path.join(settings.source, candidate))
            if path.startswith(settings.source + os.sep) and os.path.isfile(path):
                return path
    refuse(
        f"{bases[-1]}.py is not in the source; add it, or correct spec.entrypoint ({settings.entrypoint})"
    )


def make_importable(settings, folder):
    """Source first, then the dependencies, before what the interpreter brings; the handler's own folder last."""
    front = [settings.source]
    if settings.deps and os.path.isdir(settings.deps):
        front.append(os.path.abspath(settings.deps))
    sys.path[:0] = front
    for deps in front[1:]:
        site.addsitedir(deps)  # its .pth files
    if folder not in sys.path:
        sys.path.append(folder)
    # -S leaves out what scripts use to end themselves.
    site.setquit()


def _import(settings, path, shown):
    name = shown[: -len("/__init__.py")] if shown.endswith("/__init__.py") else shown[: -len(".py")]
    try:
        return _import_file(name.replace(os.sep, "."), path)
    except BaseException as error:  # SystemExit at import too
        _print_stack(error)
        refuse(f"{shown} failed at import: {reason_of(error, settings)}")


def _import_file(name, path):
    parent = name.rpartition(".")[0]
    if parent:
        importlib.import_module(parent)
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin and os.path.exists(spec.origin) and os.path.samefile(spec.origin, path):
        return importlib.import_module(name)
    # A file that is named like a module of the standard library.
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def _print_stack(error):
    import traceback

    trace = own_frames_skipped(error.__traceback__)
    sys.stderr.write("".join(traceback.format_exception(type(error), error, trace)))


def reason_of(error, settings):
    if isinstance(error, SyntaxError):
        where = os.path.relpath(error.filename, settings.source) if error.filename else "?"
        return f"{type(error).__name__}: {error.msg} ({where}, line {error.lineno}); correct it"
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; add it to requirements.txt, or the file to the source"
    if isinstance(error, SystemExit):
        return f"it ends the process (exit {error.code}); a handler file only defines functions"
    return f"{type(error).__name__}: {error}; the stack is above"


def missing_function(shown, name, module, found, entrypoint):
    if found is not None:
        return f"{name} of {shown} is a {type(found).__name__} and no function; define it with def {name}(event, context)"
    functions = sorted(
        key
        for key, value in vars(module).items()
        if callable(value) and not key.startswith("_") and getattr(value, "__module__", None) == module.__name__
    )
    there = f"; functions there: {', '.join(functions[:10])}" if functions else ""
    return f"{shown} has no function {name}{there}; add it, or correct spec.entrypoint ({entrypoint})"
