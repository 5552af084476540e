"""A YAML file and `key.sub=value` words as one settings record; a wrong key names the right one."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from openreward.errors import MissingExtra, UserError, shorten
from openreward.records import explain
from openreward.types import Record

S = TypeVar("S", bound=Record)


def read_settings(path: Path, words: Sequence[str], kind: type[S]) -> S:
    """The settings of a file, with the words laid over it; raises `UserError`."""
    values = _read(path)
    for word in words:
        _lay_over(values, word)
    check_keys(values, kind, str(path))
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error)}") from None


def write_settings(settings: Record, path: Path) -> None:
    """The whole settings, defaults included, as a file that `read_settings` reads."""
    import yaml

    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")


def check_keys(values: Mapping[str, Any], kind: type[BaseModel], where: str, at: str = "") -> None:
    """Raise `UserError` for the first key that is none of theirs, with the nearest one that is."""
    known = kind.model_fields
    for key, value in values.items():
        if key not in known:
            raise UserError(
                f"{where}: expected keys among {', '.join(at + name for name in known)}, got "
                f"{shorten(at + str(key))}; {nearest(str(key), kind, at)}"
            )
        inner = _record_of(known[key].annotation)
        if inner is not None and isinstance(value, Mapping):
            check_keys(value, inner, where, f"{at}{key}.")


def nearest(key: str, kind: type[BaseModel], at: str = "") -> str:
    """The key of these settings, or of their parts, that looks most like `key`, in words."""
    names = [at + name for name in kind.model_fields]
    for name, field in kind.model_fields.items():
        inner = _record_of(field.annotation)
        names += [f"{at}{name}.{each}" for each in inner.model_fields] if inner else []
    last = {name.rpartition(".")[2]: name for name in reversed(names)}
    near = difflib.get_close_matches(key, list(last), n=1, cutoff=0.5)
    return f"did you mean {last[near[0]]}?" if near else "take it out"


def _read(path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise MissingExtra(
            "a config needs pyyaml, which is not installed; install the extra [train]"
        ) from None
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); name a config file") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: expected UTF-8 text, got other bytes; save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: expected YAML, got {shorten(error, 200)}; mend it") from None
    if not isinstance(found, dict):
        raise UserError(f"{path}: expected keys and values, got {shorten(found)}; see the examples")
    return {str(key): value for key, value in found.items()}


def _lay_over(values: dict[str, Any], word: str) -> None:
    import yaml

    name, given, text = word.partition("=")
    keys = name.split(".")
    if not given or not all(keys):
        raise UserError(
            f"expected key=value or key.sub=value, got {shorten(word)}; write it without spaces"
        )
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise UserError(
            f"{name}: expected a value in YAML, got {shorten(text)}; quote it"
        ) from None
    for key in keys[:-1]:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            raise UserError(f"{name}: expected {key} to have parts, got {shorten(inner)}")
        values = inner
    values[keys[-1]] = value


def _record_of(annotation: Any) -> type[BaseModel] | None:
    """The settings record that a field holds, also where it may be none."""
    if get_origin(annotation) in (Union, UnionType, typing.Annotated):
        found = [_record_of(each) for each in get_args(annotation)]
        return next((each for each in found if each is not None), None)
    is_record = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_record else None
