"""Chromium on a running podstep. A page fails its test if it logs an error or asks another host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AxeResults
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Request,
    StorageState,
    WebError,
    sync_playwright,
)

from playground.serving import built
from tests.parts import chromium
from tests.services.stack import Stack

HERE = Path(__file__).parent
DESKTOP = (1440, 900)
PHONE = (390, 844)
#: Colours do not depend on the size, nor what stands where on the colours: each goes with one of the other.
LOOKS = ((DESKTOP, "dark"), (PHONE, "light"))
looks = pytest.mark.parametrize(("size", "scheme"), LOOKS, ids=["1440-dark", "390-light"])
#: What a browser keeps of a visitor who has chosen all controls; a first visit has the basic ones.
EVERYTHING = [{"name": f"podstep.controls.{kind}", "value": "all"} for kind in ("draft", "shared", "room")]
#: What a visitor has who has not asked for less motion.
MOTION = {"reduced_motion": "no-preference"}
PROCESSES = 2
#: Profiles that are kept for the next visitor, of desks and of phones.
IDLE = 6
#: What a page is set to, whatever its profile: to begin a profile takes as long as to open two pages.
MEDIA = ("color_scheme", "forced_colors", "reduced_motion")
#: No sandbox, for root has none; nothing that the browser would fetch by itself; and no host but this machine
#: has an address, so that a request to another one fails in the console.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    # Pages of a site share a process: to have one of its own is half of what opening a page costs.
    "--process-per-site",
)
#: WCAG 2.2 AA and what it builds on. Style sheets are not asked for once more: no rule of these needs it.
WCAG = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "resultTypes": ["violations"],
    "preload": False,
}
AXE = Axe()
#: Contrast takes two thirds of the time: of texts that are painted alike one is looked at.
CONTRAST = "axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-painted]' }] })"
#: The parts of pages in which nothing was found: the digest of each as it stood, with what is around it; and
#: texts as they are painted.
AUDITED: set[str] = set()
#: Asks axe about a page, but for parts that stand as they stood before: the same head and rows are on every
#: state of a page. What a rule may look at elsewhere counts as around a part: style sheets, and ids that are
#: named and not there, or there twice. The contrast is that of each text painted otherwise than all before:
#: by its own colour, size and kind, or on other backgrounds. Returns what is new, and what axe says.
AUDIT = r"""async ([audited, options]) => {
    const known = new Set(audited.split("\x1e")), met = [], exclude = [];
    const bytes = text => new TextEncoder().encode(text);
    const digest = async text => [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(text)))]
        .slice(0, 8).map(byte => byte.toString(16).padStart(2, "0")).join("");
    async function visit(element, around) {
        if (element.querySelectorAll("*").length < 8) return;
        const { width, height } = element.getBoundingClientRect();
        const key = await digest(`${around}${Math.round(width)}x${Math.round(height)}${element.outerHTML}`);
        if (known.has(key)) {
            exclude.push(element);
            return;
        }
        met.push(key);
        around += element.cloneNode(false).outerHTML;
        for (const child of element.children) await visit(child, around);
    }
    const root = document.documentElement;
    const look = getComputedStyle(document.body);
    const ids = [...document.querySelectorAll("[id]")].map(one => one.id), there = new Set(ids);
    const twice = there.size === ids.length ? [] : ids.filter((id, at) => ids.indexOf(id) !== at);
    const naming = ["aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "for"];
    const nowhere = naming.flatMap(name => [...document.querySelectorAll(`[${name}]`)]
        .flatMap(one => one.getAttribute(name).split(/\s+/)).filter(id => !there.has(id)));
    const sheets = [...document.styleSheets].map(sheet => sheet.href);
    const around = [root.cloneNode(false).outerHTML, document.body.className, innerWidth, look.color,
        look.backgroundColor, ...sheets, ...twice, ...nowhere].join();
    for (const child of document.body.children) await visit(child, around);
    const grounds = new Map();
    function ground(element) {
        if (!element) return innerWidth;
        if (grounds.has(element)) return grounds.get(element);
        const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(element);
        const own = [backgroundColor, backgroundImage, opacity, position].join();
        const below = ground(element.parentElement);
        const all = own === "rgba(0, 0, 0, 0),none,1,static" ? below : `${below}/${own}`;
        grounds.set(element, all);
        return all;
    }
    const texts = new Map();
    for (const one of document.body.querySelectorAll("*")) {
        const written = [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!(written || one.matches("input, select, textarea")) || !one.checkVisibility()) continue;
        const { color, fontSize, fontWeight, textShadow } = getComputedStyle(one);
        const kind = `${one.tagName}.${one.className.baseVal ?? one.className}${one.disabled ?? ""}`;
        const key = ["text", kind, color, fontSize, fontWeight, textShadow, ground(one)].join();
        if (!known.has(key) && !texts.has(key)) texts.set(key, one);
    }
    met.push(...texts.keys());
    for (const one of texts.values()) one.dataset.painted = "";
    const found = await axe.run(exclude.length ? { include: [root], exclude } : root, options);
    for (const one of texts.values()) delete one.dataset.painted;
    return [met.join("\x1e"), found];
}"""


#: Two frames: what follows the size of the window has followed it.
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
#: What fades is not yet in its colours: wait for what moves, but for what turns for ever.
STILL = """() => Promise.all(document.getAnimations()
    .filter(one => one.effect?.getComputedTiming().endTime < Infinity)
    .map(one => one.finished.catch(() => null)))"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark browser tests, and share them out, file by file, between two of the processes of `make test`.

    A process that has any starts a podstep and browsers of its own, so they do not go wherever there is room.
    What a file takes goes by its length rather than by its tests: some are journeys over many pages.
    """
    ours = [item for item in items if HERE in item.path.parents]
    lengths = {path: path.stat().st_size for path in {item.path for item in ours}}
    shares = [0] * PROCESSES
    group: dict[Path, int] = {}
    for path, length in sorted(lengths.items(), key=lambda one: (-one[1], one[0])):
        group[path] = shares.index(min(shares))
        shares[group[path]] += length
    for item in ours:
        item.add_marker(pytest.mark.browser)
        item.add_marker(pytest.mark.xdist_group(f"browser {group[item.path]}"))


def returning(base_url: str) -> StorageState:
    """Return the state of a browser in which all controls were chosen before."""
    return {"origins": [{"origin": base_url, "localStorage": EVERYTHING}]}  # type: ignore[typeddict-item]


@dataclass
class Watch:
    """What went wrong on the pages of a test, and what the test expects to go wrong."""

    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    followed: list[tuple[BrowserContext, str, Callable[..., None]]] = field(default_factory=list)

    def allow(self, *texts: str) -> None:
        """Expect problems that hold one of these texts, such as the 404 that a test asks for."""
        self.expected.extend(texts)

    def unexpected(self) -> list[str]:
        """Return the problems that the test did not expect."""
        return [problem for problem in self.problems if not any(text in problem for text in self.expected)]

    def console(self, message: ConsoleMessage) -> None:
        """Note what a page logs as an error."""
        if message.type == "error":
            self.problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def follow(self, context: BrowserContext, host: str) -> None:
        """Watch every page of a context, and note requests to any host but ``host``, which go nowhere.

        Those fail, for no other host has an address: to hear of every request would take a twentieth of
        opening a page.
        """

        def guard(request: Request) -> None:
            url = urlsplit(request.url)
            if url.scheme not in {"data", "blob"} and url.netloc != host:
                self.problems.append(f"request to another host: {request.url}")

        def thrown(error: WebError) -> None:
            self.problems.append(f"exception: {error.error}")

        for event, handler in (("requestfailed", guard), ("console", self.console), ("weberror", thrown)):
            context.on(event, handler)  # type: ignore[call-overload]
            self.followed.append((context, event, handler))

    def leave(self) -> None:
        """Leave the contexts to the next test."""
        for context, event, handler in self.followed:
            context.remove_listener(event, handler)


@pytest.fixture(scope="session")
def site(stacks: Callable[[str], Stack]) -> Stack:
    """The podstep that the pages come from, as `make run` starts it, with its bundles up to date."""
    built.make()
    return stacks("embedded")


def turned(page: Page) -> Iterator[tuple[int, int]]:
    """Show an open page on a phone in light and then on a desk in dark colours, as `LOOKS` has them.

    Yields the window's size each time. What was done to get there need not be done again for the other look.
    """
    device = page.context.new_cdp_session(page)
    for (width, height), scheme in reversed(LOOKS):
        phone = width < 500
        window = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        device.send("Emulation.setTouchEmulationEnabled", {"enabled": phone, "maxTouchPoints": 1})
        device.send("Emulation.setDeviceMetricsOverride", window)
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate(DRAWN)
        yield width, height


def in_both_themes(page: Page, check: Callable[[Page], None]) -> None:
    """Check an open page in dark and in light colours."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        check(page)


@dataclass
class Profile:
    """A browser's profile, which one visitor after the other has: what was fetched and compiled stays warm.

    Its first page stays open, and with it the process that the pages of the site share.
    """

    kind: str
    context: BrowserContext

    def begin(self, stored: list[dict[str, str]]) -> BrowserContext:
        """Store what the visitor's browser keeps from earlier visits."""
        self.context.pages[0].evaluate(
            "stored => stored.forEach(({ name, value }) => localStorage.setItem(name, value))", stored
        )
        return self.context

    def end(self) -> None:
        """Forget the visitor."""
        first, *others = self.context.pages
        for page in others:
            page.close()
        self.context.clear_cookies()
        self.context.clear_permissions()
        first.evaluate("localStorage.clear()")


class Chromium:
    """The system's Chromium, started for the first test that asks, ended after the last of a row of them.

    Not kept for longer: while Playwright runs, no other test of the process can have an event loop.
    """

    playwright: Playwright | None = None
    browser: Browser | None = None

    def __init__(self) -> None:
        self.idle: list[Profile] = []

    def context(self, site: str, size: tuple[int, int], options: dict[str, object]) -> BrowserContext:
        """Return the context of a new device."""
        width, height = size
        settings = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2} if width < 500 else {}
        context = self.open().new_context(
            base_url=site,
            viewport={"width": width, "height": height},
            **{"reduced_motion": "reduce", **settings, **options},  # type: ignore[arg-type]
        )
        context.set_default_timeout(60_000)
        return context

    def lend(self, site: str, size: tuple[int, int], options: dict[str, object]) -> Profile:
        """Return the profile of a desk or a phone on which nobody has been to the site."""
        size = PHONE if size[0] < 500 else DESKTOP
        kind = repr((site, size, sorted(options.items())))
        for profile in self.idle:
            if profile.kind == kind:
                self.idle.remove(profile)
                return profile
        context = self.context(site, size, options)
        context.new_page().goto("/healthz")
        return Profile(kind, context)

    def take_back(self, profile: Profile) -> None:
        """Keep a profile for the next visitor, and close the one that none has had for longest."""
        if not profile.context.pages:  # its test has closed it
            return
        try:
            profile.end()
        except Error:  # the browser has ended
            return
        self.idle.insert(0, profile)
        for old in self.idle[IDLE:]:
            old.context.close()
        del self.idle[IDLE:]

    def open(self) -> Browser:
        """Return the browser, started if need be."""
        if self.browser is None:
            path = chromium()
            self.playwright = sync_playwright().start()
            self.browser = self.playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        return self.browser

    def close(self) -> None:
        """End it, if it runs."""
        if self.browser is not None and self.playwright is not None:
            self.browser.close()
            self.playwright.stop()
        self.browser = self.playwright = None
        self.idle.clear()


RUNNING = Chromium()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """End the browser where the next test is not one of a page."""
    if nextitem is None or HERE not in nextitem.path.parents:
        RUNNING.close()


@pytest.fixture(scope="session")
def chromium_ends() -> Iterator[None]:
    """End the browser before what was set up for other tests ends, where those of pages come last."""
    yield
    RUNNING.close()


@pytest.fixture(scope="module")
def browser(chromium_ends: None) -> Browser:
    """The system's Chromium."""
    return RUNNING.open()


@pytest.fixture
def watch() -> Iterator[Watch]:
    """What goes wrong on the pages of this test; anything unexpected fails it."""
    watching = Watch()
    yield watching
    watching.leave()
    assert not watching.unexpected(), "\n".join(watching.unexpected())


@pytest.fixture
def visitor(browser: Browser, site: Stack, watch: Watch) -> Iterator[Callable[..., Page]]:
    """Open a page as a new visitor: ``visitor(size=PHONE, color_scheme="light")``; addresses are relative.

    All controls are there; ``storage_state=None`` is a first visit, which has the basic ones.

    Nothing moves unless a test asks for ``**MOTION``: painting the frames is a seventh of a test's time.
    """
    lent: list[Profile] = []
    own: list[BrowserContext] = []  # without scripts nothing can be forgotten

    def new_page(size: tuple[int, int] = DESKTOP, **options: object) -> Page:
        known = options.pop("storage_state", EVERYTHING)
        media = {name: options.pop(name) for name in MEDIA if name in options}
        if "java_script_enabled" in options:
            own.append(RUNNING.context(site.base_url, size, options))
            context = own[-1]
        else:
            lent.append(RUNNING.lend(site.base_url, size, options))
            context = lent[-1].begin(EVERYTHING if known else [])
        watch.follow(context, urlsplit(site.base_url).netloc)
        page = context.new_page()
        if size not in (DESKTOP, PHONE):
            page.set_viewport_size({"width": size[0], "height": size[1]})
        if media:
            page.emulate_media(**media)  # type: ignore[arg-type]
        return page

    yield new_page
    for context in own:
        context.close()
    for profile in lent:
        RUNNING.take_back(profile)


@pytest.fixture
def page(visitor: Callable[..., Page]) -> Page:
    """A desktop's page, 1440 × 900."""
    return visitor()


@pytest.fixture
def phone(visitor: Callable[..., Page]) -> Page:
    """A phone's page, 390 × 844."""
    return visitor(size=PHONE)


@pytest.fixture
def accessible() -> Callable[[Page], None]:
    """Check a page as it stands against WCAG 2.2 AA: ``accessible(page)``."""

    def check(page: Page) -> None:
        page.evaluate(STILL)
        if not page.evaluate("typeof axe === 'object'"):
            page.evaluate(AXE.axe_script)
            page.evaluate(CONTRAST)
        # One text: of thousands Playwright describes each.
        met, found = page.evaluate(AUDIT, ["\x1e".join(AUDITED), WCAG])
        results = AxeResults(found)
        assert results.violations_count == 0, results.generate_report()
        AUDITED.update(met.split("\x1e"))

    return check
