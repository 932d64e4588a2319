"""What goes wrong with an expression: refused when compiled, failed when evaluated, or not supported here."""

from __future__ import annotations


class CelError(Exception):
    """An evaluation failed; the text is cel-go's. Programs pass it on as a value, as cel-go does."""


class CostExceededError(Exception):
    """An evaluation was cancelled at its cost limit."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class InternalError(Exception):
    """A call whose arguments cel-go's cost tracker does not expect; it ends the evaluation."""

    def __init__(self, conversion: str) -> None:
        super().__init__(f"internal error: interface conversion: {conversion}")


class CompileError(Exception):
    """An expression that v1.37 refuses; the text is what the API server answers."""


class UnsupportedError(CompileError):
    """A valid expression that cannot be evaluated here."""


class Issues:
    """Errors of a source text, by place."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def report(self, place: int, message: str) -> None:
        """Add an error at an offset of the text, in characters."""
        self._found.append((place, message))

    def raise_any(self) -> None:
        """Raise CompileError with all of them (common.Errors.ToDisplayString)."""
        if self._found:
            shown = [self._display(*one) for one in sorted(self._found, key=lambda one: one[0])[:100]]
            raise CompileError("compilation failed: " + "\n".join(shown))

    def _display(self, place: int, message: str) -> str:
        before = self.source[:place]
        line, column = before.count("\n") + 1, place - (before.rfind("\n") + 1)
        text = self.source.split("\n")[line - 1].replace("\t", " ")
        dots = "".join("." if ord(char) < 128 else "．" for char in text[:column])
        mark = "＾" if text[column : column + 1] > "\x7f" else "^"
        return f"ERROR: <input>:{line}:{column + 1}: {message}\n | {text}\n | {dots}{mark}"
