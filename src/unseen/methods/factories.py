"""Methods of your own by name: `package.module:factory`, for the command line and for settings files."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unseen.errors import FactoryError, UnseenError

if TYPE_CHECKING:
    from unseen.logic.method import Method

PARTS = ("answer", "estimate")
"""What every method has."""


def made_by_factory(name: str) -> Method:
    """The method that `package.module:factory` returns; modules in the current folder are found too."""
    module_name, _, attribute = name.partition(":")
    module = _imported(name, module_name)
    factory = getattr(module, attribute, None) if attribute else None
    if factory is None:
        raise FactoryError(name, f"the module {module_name} has no {attribute!r}")
    if not callable(factory):
        raise FactoryError(name, f"{attribute} is not callable: name a function or a class that makes the method")
    return _checked(name, _called(name, factory))


def _imported(name: str, module_name: str) -> Any:
    """The module; what stops its import is part of the error."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            where = "neither in the current folder nor on Python's path (PYTHONPATH)"
            raise FactoryError(name, f"there is no module {error.name}, {where}") from None
        raise FactoryError(name, f"the module {module_name} cannot be imported: {_said(error)}") from error
    except Exception as error:
        raise FactoryError(name, f"the module {module_name} cannot be imported: {_said(error)}") from error


def _called(name: str, factory: Any) -> Any:
    try:
        return factory()
    except UnseenError:
        raise
    except Exception as error:
        raise FactoryError(name, f"the factory failed: {_said(error)}") from error


def _checked(name: str, made: Any) -> Method:
    """What a factory made, if it is a method."""
    missing = [part for part in PARTS if not callable(getattr(made, part, None))]
    if missing:
        needs = "a method has `answer` and `estimate`"
        raise FactoryError(name, f"it returns {type(made).__name__!r}, which has no `{missing[0]}`; {needs}")
    checked: Method = made
    return checked


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
