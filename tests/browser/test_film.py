"""A range of steps as a video or GIF: the file that the browser makes is decoded again, and has the steps."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from playwright.sync_api import Download, Locator, Page, expect

from playground.pictures.themes import THEMES
from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, wide
from tests.browser.test_exports import command
from tests.services.stack import Stack

pytestmark = pytest.mark.timeout(240)

#: Shared by what decodes: a grid of pixels of the stage in a frame or in a picture, and one of the heading.
PIXELS = """
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [160, 70];
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    const pixels = (image, ...from) => {
        pen.drawImage(image, ...from, 0, 0, 160, 70);
        return btoa(String.fromCharCode(...pen.getImageData(0, 0, 160, 70).data));
    };
    const FRAME = [64, 52, 1152, 504], HEADING = [0, 0, 640, 50];
"""
PICTURE = f"""async (address) => {{ {PIXELS}
    const image = new Image();
    image.src = address;
    await image.decode();
    return pixels(image, 0, 0, image.width, image.height);
}}"""
VIDEO = f"""async ([address, times]) => {{ {PIXELS}
    const video = document.createElement("video");
    const comes = (name) => new Promise((resolve, reject) => {{
        video.addEventListener(name, resolve, {{ once: true }});
        video.addEventListener("error", () => reject(new Error(video.error.message)), {{ once: true }});
    }});
    const ready = comes("loadeddata");
    video.src = address;
    await ready;
    const shown = [], headings = [];
    for (const time of times) {{
        const there = comes("seeked");
        video.currentTime = time;
        await there;
        shown.push(pixels(video, ...FRAME));
        headings.push(pixels(video, ...HEADING));
    }}
    return [[video.videoWidth, video.videoHeight, video.duration], shown, headings];
}}"""
GIF = f"""async (address) => {{ {PIXELS}
    const data = Uint8Array.from(atob(address.split(",")[1]), (letter) => letter.charCodeAt(0));
    const decoder = new ImageDecoder({{ data, type: "image/gif" }});
    await decoder.tracks.ready;
    await decoder.completed;
    const track = decoder.tracks.selectedTrack;
    const shown = [], headings = [], seconds = [];
    let size;
    for (let frameIndex = 0; frameIndex < track.frameCount; frameIndex++) {{
        const {{ image }} = await decoder.decode({{ frameIndex }});
        size = [image.displayWidth, image.displayHeight];
        seconds.push(image.duration / 1e6);
        shown.push(pixels(image, ...FRAME));
        headings.push(pixels(image, ...HEADING));
        image.close();
    }}
    return [[...size, seconds], shown, headings];
}}"""
#: The channels of a grid, one after the other.
Pixels = npt.NDArray[np.int_]


def pixels(grids: list[str]) -> list[Pixels]:
    """Return the grids of pixels that a page has sent as text: as lists of numbers, they took seconds."""
    return [np.frombuffer(base64.b64decode(grid), np.uint8).astype(int) for grid in grids]


def address_of(kind: str, data: bytes) -> str:
    """Return a file as an address."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def apart(one: Pixels, other: Pixels) -> float:
    """Return how far two grids of pixels are apart, a channel, from 0 to 255."""
    return float(np.abs(one - other).mean())


def near(pixel: Pixels, colour: str) -> int:
    """Return how far the channels of a pixel are at most from a colour, from 0 to 255."""
    return max(abs(one - other) for one, other in zip(pixel.tolist(), bytes.fromhex(colour[1:]), strict=True))


def asked(page: Page, **fields: str) -> Locator:
    """Open the dialog by the palette and fill it in."""
    command(page, "video or GIF")
    return filled(page, **fields)


def filled(page: Page, **fields: str) -> Locator:
    """Fill the dialog in; a label's spaces are written as ``_``."""
    box = page.get_by_role("dialog", name="Video of steps")
    for label, value in fields.items():
        field = box.get_by_label(label.replace("_", " "))
        if label in ("Format", "Seconds_a_step", "Theme"):
            field.select_option(label=value)
        else:
            field.fill(value)
    return box


def made(box: Locator) -> Download:
    """Make the file, and return its download."""
    with box.page.expect_download(timeout=120_000) as coming:
        box.get_by_role("button", name="Make the file").click()
    return coming.value


def has_the_steps(grids: list[str], page: Page, source: str, steps: range, theme: str) -> None:
    """Each frame shows the stage of its step as the server draws it in a theme, and no other's."""
    frames = pixels(grids)
    query = f"source={source}&from={steps[0]}&to={steps[-1]}&theme={theme}"
    drawn = re.findall(r"<svg.*?</svg>", page.request.get("/deck", params=query).text(), re.DOTALL)
    stages = pixels([page.evaluate(PICTURE, address_of("image/svg+xml", svg.encode())) for svg in drawn])
    assert len(frames) == len(stages)
    for at, frame in enumerate(frames):
        distances = [apart(frame, stage) for stage in stages]
        assert distances[at] == min(distances) < 8, (at, distances)
        assert distances.count(distances[at]) == 1


def has_headings(grids: list[str], theme: str) -> None:
    """Each frame's words are in the ink of a theme, on its background."""
    colours = THEMES[theme]
    for heading in pixels(grids):
        assert near(heading[:3], colours.bg) < 4  # its corner
        ink = min(near(heading[at : at + 3], colours.ink) for at in range(0, len(heading), 4))
        assert ink < 90 < near(heading[:3], colours.ink)


def read(data: bytes, name: bytes) -> bytes:
    """Return the body of the first EBML element of a name; its length says its own first."""
    at = data.index(name) + len(name)
    size = 9 - data[at].bit_length()
    length = int.from_bytes(data[at : at + size], "big") ^ 1 << 7 * size
    return data[at + size : at + size + length]


def test_steps_as_a_video(page: Page, visitor: Callable[..., Page], site: Stack) -> None:
    """It plays, is as long as asked for, can be searched, and shows each step at its time, in its theme."""
    address = share(site, example_text("making-room"), "Video")
    Workbench(page).open(f"{address}?step=1").at(1)
    last = int(page.evaluate("podstep.playback.cycles"))
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("group", name="As a file").get_by_role("button", name="Video or GIF").click()
    expect(page.get_by_role("dialog")).to_have_count(1)
    filled(page, From_step="1", To_step=str(last), Seconds_a_step="1", Format="WebM")
    box = filled(page, Theme="Dark")
    file = made(box)
    assert file.suggested_filename == f"steps-1-to-{last}.webm"
    expect(box).to_contain_text(f"{last} steps, {last} seconds")
    expect(box.get_by_role("link", name=file.suggested_filename)).to_be_visible()
    data = Path(file.path()).read_bytes()
    assert data.startswith(b"\x1a\x45\xdf\xa3") and struct.unpack(">d", read(data, b"\x44\x89")) == (
        1000 * last,
    )
    player = visitor()  # the policy of our own pages allows no media but the server's
    times = [step + part for step in range(last) for part in (0.1, 0.6)]
    (width, height, duration), frames, headings = player.evaluate(
        VIDEO, [address_of("video/webm", data), times]
    )
    assert (width, height) == (1280, 720) and abs(duration - last) < 0.02
    for first, second in zip(pixels(frames[::2]), pixels(frames[1::2]), strict=True):
        assert apart(first, second) < 1.5
    has_the_steps(frames[1::2], page, address, range(1, last + 1), "dark")
    has_headings(headings, "dark")


def test_steps_as_a_gif(page: Page, site: Stack) -> None:
    """A frame a step, each shown as long as asked for; from the state before the first one.

    The page's own theme is chosen already, and its stage and its words have it.
    """
    address = share(site, example_text("making-room"), "GIF")
    Workbench(page).open(address)
    box = asked(page, From_step="0", To_step="2", Seconds_a_step="4", Format="GIF")
    expect(box.get_by_label("Theme")).to_have_value("light")
    file = made(box)
    assert file.suggested_filename == "steps-0-to-2.gif"
    data = Path(file.path()).read_bytes()
    page.goto("/api/")
    (width, height, seconds), frames, headings = page.evaluate(GIF, address_of("image/gif", data))
    assert (width, height, seconds) == (1280, 720, [4, 4, 4])
    has_the_steps(frames, page, address, range(3), "light")
    has_headings(headings, "light")


def test_a_browser_that_encodes_no_video(page: Page, site: Stack) -> None:
    """It says so, and has the GIF chosen."""
    page.add_init_script("delete window.VideoEncoder")
    Workbench(page).open(share(site, example_text("making-room"), "None"))
    box = asked(page)
    expect(box).to_contain_text("This browser cannot encode video here")
    expect(box.get_by_label("Format")).to_have_value("gif")
    expect(box.get_by_role("option", name="WebM")).to_be_disabled()
    assert made(box).suggested_filename.endswith(".gif")


def test_what_writes_webm_comes_with_the_first_film(page: Page, site: Stack, watch: Any) -> None:
    """Neither the page nor the dialog asks for it; where it cannot be had, a GIF still can."""
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url.rpartition("/")[2]))
    watch.allow("mediabunny.js", "Failed to load resource")
    page.route("**/static/vendor/mediabunny.js", lambda route: route.abort())
    Workbench(page).open(share(site, example_text("making-room"), "Late"))
    box = asked(page, From_step="1", To_step="1", Format="WebM")
    assert "mediabunny.js" not in asked_for
    box.get_by_role("button", name="Make the file").click()
    expect(box.get_by_role("alert")).to_contain_text("could not be loaded from this server")
    assert asked_for.count("mediabunny.js") == 1
    assert made(filled(page, Format="GIF")).suggested_filename == "steps-1-to-1.gif"


def test_an_encoder_that_fails_is_reported_and_tried_again(page: Page, site: Stack) -> None:
    """In the middle of a film: the dialog has the reason, and the next film is whole."""
    page.add_init_script("""
        const { encode } = VideoEncoder.prototype;
        let frames = 0;
        VideoEncoder.prototype.encode = function (...given) {
            if (++frames === 6) throw new Error("The encoder has no memory left.");
            encode.apply(this, given);
        };
    """)
    Workbench(page).open(share(site, example_text("making-room"), "Failing"))
    box = asked(page, From_step="1", To_step="3", Seconds_a_step="1", Format="WebM")
    box.get_by_role("button", name="Make the file").click()
    expect(box.get_by_role("alert")).to_have_text("The encoder has no memory left.")
    assert b"webm" in Path(made(box).path()).read_bytes()[:64]
    expect(box).to_contain_text("3 steps, 3 seconds")


def test_it_is_cancelled_and_refused_in_words(page: Page, site: Stack, watch: Any) -> None:
    """By keys alone: what is wrong stands in the dialog, and a second try goes on from there."""
    Workbench(page).open(share(site, example_text("making-room"), "Cancelled"))
    box = asked(page, From_step="2", To_step="1")
    page.keyboard.press("Enter")
    expect(box.get_by_role("alert")).to_contain_text("1 to 60 steps")
    expect(box.get_by_label("To step")).to_be_focused()
    page.route("**/deck?*", lambda route: None)  # it waits
    page.keyboard.type("2")
    page.keyboard.press("Control+a")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    cancel = box.get_by_role("button", name="Cancel")
    expect(cancel).to_be_focused()
    expect(box.get_by_role("progressbar")).to_be_visible()
    page.keyboard.press("Enter")
    expect(box).to_contain_text("Cancelled: no file was made.")
    expect(box.get_by_role("button", name="Make the file")).to_be_focused()
    page.unroute("**/deck?*")
    watch.allow("503")
    refusal = '<p data-advice="">The server is busy.</p>'
    page.route("**/deck?*", lambda route: route.fulfill(status=503, body=refusal, content_type="text/html"))
    page.keyboard.press("Enter")
    expect(box.get_by_role("alert")).to_have_text("The server is busy.")
    page.unroute("**/deck?*")
    assert made(box).suggested_filename == "steps-2-to-2.webm"
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def test_the_dialog(page: Page, site: Stack, accessible: Callable[[Page], None]) -> None:
    """Before, while it works, and with its file: it fits and is accessible."""
    Workbench(page).open(share(site, example_text("making-room"), "Dialog"))
    box = asked(page, Format="GIF")
    accessible(page)
    made(box)
    accessible(page)
    for size in turned(page):
        assert wide(page) <= 0, size
