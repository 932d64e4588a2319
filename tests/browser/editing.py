"""The YAML editor of the Build panel as people use it: its whole text, also off screen, and pasting."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from playwright.sync_api import Locator, expect

from tests.browser.pages import Workbench

_TEXT = """async (element) => {
  const { EditorView } = await import("/static/vendor/codemirror.js");
  return EditorView.findFromDOM(element).state.doc.toString();
}"""
_PASTE = """(element, text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const paste = { clipboardData: data, bubbles: true, cancelable: true };
  element.dispatchEvent(new ClipboardEvent("paste", paste));
}"""
PATIENCE = 10  # seconds


@dataclass(frozen=True, slots=True)
class Yaml:
    """The editor; ``field`` is the part of it that is typed into."""

    field: Locator

    @property
    def text(self) -> str:
        """The whole text."""
        return str(self.field.evaluate(_TEXT))

    def shows(self, wanted: str | re.Pattern[str]) -> Yaml:
        """Wait until the text is this one, or holds this pattern."""
        end = time.monotonic() + PATIENCE
        while not (self.text == wanted if isinstance(wanted, str) else wanted.search(self.text)):
            assert time.monotonic() < end, f"{wanted} is not in\n{self.text[:4000]}"
            time.sleep(0.05)
        return self

    def fill(self, text: str) -> Yaml:
        """Select all and paste."""
        self.field.focus()
        self.field.press("Control+a")
        self.field.evaluate(_PASTE, text)
        return self


def yaml_of(bench: Workbench) -> Yaml:
    """Open the YAML of the Build panel and wait for its editor."""
    bench.build.get_by_role("tab", name="YAML").click()
    field = bench.build.locator(".cm-content").and_(
        bench.build.get_by_role("textbox", name=re.compile("^YAML of this"))
    )
    expect(field).to_be_visible()
    return Yaml(field)
