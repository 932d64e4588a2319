"""The YAML editors as people use them: their whole text, also off screen, and pasting."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import PATIENCE, Workbench

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


@dataclass(frozen=True, slots=True)
class Yaml:
    """The editor; ``field`` is the part of it that is typed into."""

    field: Locator

    @property
    def text(self) -> str:
        """The whole text."""
        return str(self.field.evaluate(_TEXT))

    def shows(self, wanted: str | re.Pattern[str], holds: bool = True) -> Yaml:
        """Wait until the text is this one, or holds this pattern; or does not."""
        end = time.monotonic() + PATIENCE
        while (self.text == wanted if isinstance(wanted, str) else bool(wanted.search(self.text))) != holds:
            assert time.monotonic() < end, f"{wanted} is {'not ' if holds else ''}in\n{self.text[:4000]}"
            time.sleep(0.05)
        return self

    def fill(self, text: str) -> Yaml:
        """Select all and paste."""
        self.field.focus()
        self.field.press("Control+a")
        return self.paste(text)

    def paste(self, text: str) -> Yaml:
        """Paste where the cursor is."""
        self.field.evaluate(_PASTE, text)
        return self


def editor_in(root: Locator | Page, name: str | re.Pattern[str]) -> Yaml:
    """Wait for the editor of that name, which takes a text area's place, and return it."""
    field = root.locator(".cm-content").and_(root.get_by_role("textbox", name=name))
    expect(field).to_be_visible()
    return Yaml(field)


def manifests(page: Page) -> Yaml:
    """Turn to the box of the start page; the editor comes then."""
    page.get_by_label("Manifests").focus()
    return editor_in(page, "Manifests")


def yaml_of(bench: Workbench) -> Yaml:
    """Open the YAML of the Build panel and wait for its editor."""
    bench.build.get_by_role("tab", name="YAML").click()
    return editor_in(bench.build, re.compile("^YAML of this"))
