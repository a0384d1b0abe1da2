"""Operations of the description as methods of the client. Pure."""

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import iskeyword

from headwater.serve.client_code.prose import docstring
from headwater.serve.client_code.types import class_name, is_identifier, type_of
from headwater.serve.described import CURSOR, DescribedOperation, DescribedParameter, Schemas, present

LISTS = "list_"
# Of a page that an iterator asks for by itself.
PLACES = (CURSOR, "offset")


@dataclass(frozen=True, slots=True)
class MethodCode:
    """The method of one operation, and the iterator over its pages where it has pages."""

    operation: DescribedOperation
    schemas: Schemas

    @property
    def paged(self) -> tuple[str, str] | None:
        """The field that holds the items of a page, and their type."""
        answer, query = self.operation.answer, self.operation.parameters_in("query")
        if answer is None or not answer.is_json or CURSOR not in {one.name for one in query}:
            return None
        fields = {name: one for name, one, _ in self.schemas.fields_of(answer.schema)}
        lists = [(name, type_of(one["items"])) for name, one in fields.items() if one.get("type") == "array"]
        return lists[0] if CURSOR in fields and len(lists) == 1 else None

    @property
    def answer_type(self) -> str:
        answer = self.operation.answer
        if answer is None:
            return "None"
        return type_of(answer.schema) if answer.is_json else "Iterator[bytes]"

    @property
    def body_fields(self) -> str:
        """The type whose fields are keywords of the method; nothing where the body is one argument."""
        body = self.operation.body
        if body is None or not body.is_json or not body.name:
            return ""
        taken = {python_name(one.name) for one in self.operation.parameters_in("query")}
        fields = [name for name, _, _ in self.schemas.fields_of(present(body.schema))]
        suits = fields and all(is_identifier(name) and name not in taken and name != "self" for name in fields)
        return class_name(body.name) if suits else ""

    @property
    def _kind_is_open(self) -> bool:
        """Its body may be of several kinds: the caller says which."""
        return self.operation.body is not None and "*" in self.operation.body.media_type

    def written(self) -> str:
        return "\n".join([self._method(), *([self._iterator()] if self.paged else [])])

    def _method(self) -> str:
        one = self.operation
        head = f"    def {one.name}({', '.join(self._signature())}) -> {self.answer_type}:"
        prose = docstring(f"{one.summary}\n\n{one.description}", [*self._prose(), f"Role: {one.role}."], indent=8)
        call = f"self._{'ask' if one.answer is None or one.answer.is_json else 'stream'}({', '.join(self._call())})"
        if one.answer is None:
            body = [f"        {call}"]
        elif one.answer.is_json and self.answer_type != "Any":
            body = [f"        told: {self.answer_type} = {call}", "        return told"]
        else:
            body = [f"        return {call}"]
        return "\n".join([head, prose, *body, ""])

    def _iterator(self) -> str:
        assert self.paged is not None
        field, kind = self.paged
        name = iterator_name(self.operation.name)
        head = f"    def {name}({', '.join(self._signature(PLACES))}) -> Iterator[{kind}]:"
        given = [python_name(one.name) for one in self.operation.parameters_in("path")]
        given += [f"{n}={n}" for one in self._query(PLACES) if (n := python_name(one.name))]
        page = f"lambda cursor: self.{self.operation.name}({', '.join([*given, 'cursor=cursor'])})"
        prose = f'        """Each of `{self.operation.name}`, page by page."""'
        return "\n".join([head, prose, f'        return self._each("{field}", {page})', ""])

    def _query(self, without: tuple[str, ...] = ()) -> list[DescribedParameter]:
        """Required ones first, as they were described."""
        found = [one for one in self.operation.parameters_in("query") if one.name not in without]
        return sorted(found, key=lambda one: not one.is_required)

    def _signature(self, without: tuple[str, ...] = ()) -> Iterator[str]:
        one = self.operation
        yield "self"
        path = one.parameters_in("path")
        yield from (f"{python_name(place.name)}: {type_of(place.schema)}" for place in path)
        is_argument = one.body is not None and not self.body_fields
        if is_argument and one.body is not None:
            kind = type_of(one.body.schema) if one.body.is_json else "bytes"
            yield f"body: {kind}" if one.needs_body else f"body: {or_none(kind)}"
        if path or is_argument:
            # A field of the body may have the same name.
            yield "/"
        query = self._query(without)
        if query or self._kind_is_open or one.is_conditional:
            yield "*"
        if self._kind_is_open:
            yield "media_type: str"
        for asked in query:
            yield f"{python_name(asked.name)}: {_asked_type(asked)}"
        if one.is_conditional:
            yield "if_match: str | None = None"
        if self.body_fields:
            yield f"**fields: Unpack[{self.body_fields}]"

    def _call(self) -> Iterator[str]:
        one = self.operation
        yield f'"{one.method}"'
        path = re.sub(r"\{(\w+)\}", lambda found: f"{{in_path({python_name(found[1])})}}", one.path)
        yield f'f"{path}"' if "{" in path else f'"{path}"'
        if query := self._query():
            pairs = ", ".join(f'"{asked.name}": {python_name(asked.name)}' for asked in query)
            yield f"query={{{pairs}}}"
        if one.body is not None:
            yield f"body={_sent(bool(self.body_fields), one.needs_body)}"
            if not one.body.is_json:
                yield "media_type=media_type" if self._kind_is_open else f'media_type="{one.body.media_type}"'
        if one.keeps_answers:
            yield "is_kept=True"
        if one.is_conditional:
            yield "if_match=if_match"

    def _prose(self) -> list[str]:
        told = (*self.operation.parameters_in("path"), *self._query())
        found = [f"`{python_name(one.name)}`: {' '.join(one.description.split())}" for one in told if one.description]
        if self.operation.is_conditional:
            found.append("`if_match`: the `edition` of what this change was made from; over a newer one it is refused.")
        return found


def _asked_type(asked: DescribedParameter) -> str:
    kind = type_of(asked.schema)
    return kind if asked.is_required else or_none(kind)


def or_none(kind: str) -> str:
    """As a parameter that may be left out."""
    return f"{kind} = None" if kind == "Any" or kind.endswith("None") else f"{kind} | None = None"


def _sent(is_fields: bool, is_needed: bool) -> str:
    """Where nothing is needed, nothing given is no body."""
    return "body" if not is_fields else "fields" if is_needed else "fields or None"


def python_name(name: str) -> str:
    """One that Python takes, and that hides nothing of Python."""
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if iskeyword(plain) or hasattr(builtins, plain) else plain


def iterator_name(operation: str) -> str:
    return f"iter_{operation.removeprefix(LISTS)}"
