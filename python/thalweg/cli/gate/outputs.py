"""Where the answers of a gate go: one document or a table to the standard output, and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.base.errors import RequestError
from thalweg.base.files.whole_file import whole_file
from thalweg.cli import ci
from thalweg.cli.ci import Case
from thalweg.cli.console import print_json, say
from thalweg.cli.options import SuiteFormat


@dataclass(frozen=True)
class Answers:
    """The answers of one gate, in each form."""

    head: Mapping[str, Any]
    """The head of the document, of kind `gate` and with the name of the suite."""
    document: Mapping[str, Any]
    """The rest of it."""
    cases: Sequence[Case]
    """As services of CI take them."""
    markdown: str
    print_table: Callable[[], None]
    complain: Callable[[], None]
    """Says on the standard error what is worse."""


@dataclass(frozen=True)
class Outputs:
    """Where answers go."""

    format_: SuiteFormat
    junit: Path | None
    markdown: Path | None

    def write(self, answers: Answers) -> None:
        """Prints the answers, and appends or writes them to files. Raises RequestError."""
        title = f"gate {answers.head['name']}"
        if self.format_ is SuiteFormat.JSON:
            print_json({**answers.head, **answers.document})
        elif self.format_ is SuiteFormat.MARKDOWN:
            say(answers.markdown, end="")
        elif self.format_ in ci.FORMATS:
            say(ci.document(self.format_, title, answers.cases))
        else:
            answers.print_table()
        answers.complain()
        if self.junit:
            with whole_file(self.junit) as partial:
                partial.write_text(ci.document(SuiteFormat.JUNIT, title, answers.cases) + "\n", encoding="utf-8")
        if self.markdown:
            try:
                with self.markdown.open("a", encoding="utf-8") as file:
                    file.write(answers.markdown)
            except OSError as error:
                raise RequestError(f"cannot write {self.markdown}: {error.strerror}") from None
