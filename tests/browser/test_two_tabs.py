"""Two tabs on one draft: each sees what the other saves, and nothing that is typed in either is lost."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Dialog, Locator, Page, expect

from tests.browser.conftest import DESKTOP, turned
from tests.browser.editors import Yaml, editor_in, yaml_of
from tests.browser.pages import Workbench, becomes, drafted, wide

NODES = "---\n".join(
    f"""apiVersion: v1
kind: Node
metadata:
  name: {name}
status:
  allocatable:
    cpu: "{cpu}"
    memory: 8Gi
    pods: "10"
"""
    for name, cpu in (("n1", 1), ("n2", 2), ("n3", 3))
)
POD = """---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: main}]}
"""

#: Holds each draft.save back until the test lets it go.
HELD_SAVES = """() => {
    const { socket } = podstep, call = socket.call.bind(socket);
    socket.call = (name, payload, more) => (name === "draft.save"
        ? new Promise((go) => { window.go = go; }).then(() => call(name, payload, more))
        : call(name, payload, more));
}"""

#: Notes each bundle.check, and holds its answer back until the test lets it go.
HELD_CHECKS = """() => {
    const { socket } = podstep, call = socket.call.bind(socket);
    window.checks = 0;
    socket.call = async (name, ...more) => {
        const answer = await call(name, ...more);
        if (name !== "bundle.check") return answer;
        window.checks += 1;
        return new Promise((go) => { window.go = () => go(answer); });
    };
}"""

#: Holds the answer to the first request for the draft's text back until the test lets it go.
HELD_TEXT = """() => {
    const { fetch } = window;
    window.fetch = async (url, ...more) => {
        const answer = await fetch(url, ...more);
        if (!window.held && String(url).endsWith("/bundle")) await new Promise((go) => { window.held = go; });
        return answer;
    };
}"""

#: Fails the next request for the draft's text, and the next opening of the draft, as a server may.
FAILING = """() => {
    const { socket } = podstep, call = socket.call.bind(socket), { fetch } = window;
    window.fetch = async () => { window.fetch = fetch; throw new TypeError("It has failed."); };
    socket.call = async (name, ...more) => {
        if (name !== "scenario.open") return call(name, ...more);
        socket.call = call;
        throw new Error("It has failed.");
    };
}"""


def both(page: Page, text: str = NODES, *, as_is: bool = False) -> tuple[Workbench, Workbench]:
    """Open a draft in two tabs of one browser."""
    address = drafted(page, text, "Shared", as_is=as_is)
    return Workbench(page).open(address), Workbench(page.context.new_page()).open(address)


def saved(bench: Workbench) -> str:
    """Return the draft's text as the server has it."""
    path = bench.page.evaluate("`/p/${podstep.playback.source.draft}/bundle`")
    return bench.page.request.get(path).text()


def apply(bench: Workbench) -> None:
    """Press Apply of the YAML."""
    bench.build.get_by_role("button", name="Apply", exact=True).click()


def write(bench: Workbench, old: str, new: str) -> Yaml:
    """Type into the YAML: ``new`` in the place of ``old``."""
    editor = yaml_of(bench).shows(re.compile(re.escape(old)))
    return editor.fill(editor.text.replace(old, new))


def edit(bench: Workbench, old: str, new: str) -> None:
    """Type into the YAML, and wait until it is saved."""
    write(bench, old, new)
    apply(bench)
    expect(bench.build.get_by_role("button", name="Apply", exact=True)).to_be_disabled()
    becomes(lambda: new in saved(bench), True)


def cpus(bench: Workbench) -> list[int]:
    """Return the cores of the nodes as the workbench shows them."""
    return [cpu // 1000 for cpu in bench.page.evaluate("podstep.playback.nodes.cpu")]


def overlap(bench: Workbench) -> Locator:
    """Wait for what asks about two changes of the same place."""
    box = bench.page.get_by_role("dialog", name="Changed in another tab too")
    expect(box).to_be_visible()
    return box


def test_what_two_tabs_write_is_merged(page: Page, accessible: Callable[[Page], None]) -> None:
    """Edits are seen, merged where they do not overlap, and decided by who made the second where they do."""
    one, other = both(page, NODES + POD)
    what_one_tab_saves_is_seen_in_the_other(one, other)
    edits_of_different_lines_are_merged(one, other)
    edits_of_one_line_are_decided(one, other, accessible)
    ones_own_edit_is_saved_as_a_branch(one, other)


def what_one_tab_saves_is_seen_in_the_other(one: Workbench, other: Workbench) -> None:
    """The other tab shows the new cluster and the new text without being touched, where it stood.

    It does, too, where the answer on its way is of the revision before, and where text or simulation
    cannot be had at first.
    """
    other.step()
    editor = yaml_of(other).shows(re.compile('cpu: "1"'))
    one.page.evaluate(HELD_TEXT)
    one.build.get_by_role("tab", name="YAML").click()
    one.page.wait_for_function("() => Boolean(window.held)")
    edit(other, 'cpu: "1"', 'cpu: "7"')
    becomes(lambda: cpus(one), [7, 2, 3])
    one.page.evaluate("() => window.held()")
    yaml_of(one).shows(re.compile('cpu: "7"'))
    expect(one.build.get_by_role("button", name="Apply", exact=True)).to_be_disabled()
    other.page.evaluate(FAILING)
    edit(one, 'cpu: "2"', 'cpu: "8"')
    expect(other.page.get_by_text("Changed in another tab. It is shown here too.")).to_be_visible()
    becomes(lambda: cpus(other), [7, 8, 3])
    editor.shows(re.compile('cpu: "8"'))
    other.at(1)
    edit(other, 'cpu: "7"', 'cpu: "1"')
    becomes(lambda: cpus(one), [1, 8, 3])
    edit(one, 'cpu: "8"', 'cpu: "2"')
    becomes(lambda: cpus(other), [1, 2, 3])


def edits_of_different_lines_are_merged(one: Workbench, other: Workbench) -> None:
    """What is typed stays while the other tab saves; Apply makes both, and Undo takes back one's own.

    Merge now does it in the editor and saves nothing. After a lost connection and after a reload it is known
    over which text it was typed.
    """
    editor = write(one, 'cpu: "1"', 'cpu: "7"')
    edit(other, 'cpu: "3"', 'cpu: "9"')
    becomes(lambda: cpus(one), [1, 2, 9])
    reported = one.build.get_by_text("Another tab has changed this draft meanwhile")
    expect(reported).to_be_visible()
    assert 'cpu: "7"' in editor.text
    assert 'cpu: "3"' in editor.text
    apply(one)
    becomes(lambda: cpus(one), [7, 2, 9])
    becomes(lambda: cpus(other), [7, 2, 9])
    expect(reported).to_be_hidden()
    note = one.page.get_by_text("Merged with the changes of another tab")
    expect(note).to_be_visible()
    one.page.get_by_role("button", name="Undo").last.click()
    becomes(lambda: cpus(one), [1, 2, 9])
    becomes(lambda: cpus(other), [1, 2, 9])

    write(one, 'cpu: "1"', 'cpu: "7"')
    edit(other, 'cpu: "9"', 'cpu: "4"')
    one.build.get_by_role("button", name="Merge now").click()
    editor.shows(re.compile('cpu: "7"(.|\n)*cpu: "4"'))
    assert 'cpu: "7"' not in saved(one)
    apply(one)
    becomes(lambda: cpus(other), [7, 2, 4])

    write(one, 'cpu: "7"', 'cpu: "5"')
    one.page.evaluate("podstep.socket.drop()")
    edit(other, 'cpu: "4"', 'cpu: "6"')
    becomes(lambda: cpus(one), [7, 2, 6])
    apply(one)
    becomes(lambda: cpus(other), [5, 2, 6])

    write(one, 'cpu: "5"', 'cpu: "8"')
    edit(other, 'cpu: "6"', 'cpu: "3"')
    one.page.reload()
    one.wait()
    yaml_of(one).shows(re.compile('cpu: "8"(.|\n)*cpu: "6"'))
    expect(reported).to_be_visible()
    apply(one)
    becomes(lambda: cpus(other), [8, 2, 3])


#: The answers to which of two versions of a line is kept, and the cores of the nodes after each.
CHOICES = {"Keep mine": [7, 8, 3], "Take theirs": [9, 8, 3], "Decide later": [9, 2, 3]}


def edits_of_one_line_are_decided(
    one: Workbench, other: Workbench, accessible: Callable[[Page], None]
) -> None:
    """Both versions are shown; what does not overlap is kept of both, and deciding later loses nothing."""
    edit(other, 'cpu: "8"', 'cpu: "1"')
    becomes(lambda: cpus(one), [1, 2, 3])
    begun = saved(one)
    for choice, result in CHOICES.items():
        editor = write(one, 'cpu: "1"', 'cpu: "7"')
        editor.fill(editor.text.replace('cpu: "2"', 'cpu: "8"'))
        typed = editor.text
        edit(other, 'cpu: "1"', 'cpu: "9"')
        becomes(lambda: cpus(one), [9, 2, 3])
        if choice == "Keep mine":
            the_choice_is_accessible_on_every_screen(one, accessible)
        apply(one)
        box = overlap(one)
        expect(box.get_by_label("Yours, from line 7")).to_contain_text('+     cpu: "7"')
        expect(box.get_by_label("The other tab’s, from line 7")).to_contain_text('+     cpu: "9"')
        assert box.locator(".conflict-place").count() == 1
        box.get_by_role("button", name=choice).click()
        becomes(lambda: cpus(other), result)
        if choice == "Decide later":
            assert editor.text == typed
            expect(one.build.get_by_role("button", name="Apply", exact=True)).to_be_enabled()
        else:
            becomes(lambda: editor.text == saved(one), True)  # noqa: B023 - asked at once
            yaml_of(other).fill(begun)
            apply(other)
            becomes(lambda: cpus(one), [1, 2, 3])


def the_choice_is_accessible_on_every_screen(one: Workbench, accessible: Callable[[Page], None]) -> None:
    """By keyboard alone and at 390 pixels: both versions and all choices, within the screen."""
    page = one.page
    page.bring_to_front()
    apply(one)
    box = overlap(one)
    for size in turned(page):
        expect(box.get_by_role("button", name="Save mine as a branch")).to_be_focused()
        assert wide(page) <= 0
        if size == DESKTOP:
            left, right = (figure.bounding_box() for figure in box.get_by_role("figure").all())
            assert left and right and left["y"] == right["y"]
    accessible(page)
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(one.build.get_by_text("Nothing was saved")).to_be_visible()


def ones_own_edit_is_saved_as_a_branch(one: Workbench, other: Workbench) -> None:
    """The draft stays as the other tab saved it; the page goes on with the branch, linked to it."""
    apply(one)
    draft = one.page.url
    overlap(one).get_by_role("button", name="Save mine as a branch").click()
    one.page.wait_for_url(lambda url: url != draft)
    one.wait()
    assert cpus(one) == [7, 8, 3]
    assert (
        one.page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('podstep.draft'))") == []
    )
    assert cpus(other) == [9, 2, 3]
    assert 'cpu: "9"' in saved(other)
    parent = one.build.get_by_role("link", name="Shared", exact=True)
    expect(parent).to_have_attribute("href", re.compile(re.escape(draft.split("/p/")[1].split("/")[0])))


def test_what_is_typed_is_checked_once_and_kept(page: Page) -> None:
    """The check of a typed text waits for Apply; where the browser has no room for it, leaving asks before.

    Of two checks the server answers the last.
    """
    bench = Workbench(page).open(drafted(page, NODES, "Shared"))
    page.evaluate(HELD_CHECKS)
    write(bench, 'cpu: "1"', 'cpu: "7"')
    apply(bench)
    page.wait_for_function("() => window.checks")
    page.wait_for_timeout(1_500)  # in which the keys rest
    assert page.evaluate("window.checks") == 1
    page.evaluate("window.go()")
    becomes(lambda: cpus(bench), [7, 2, 3])
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    write(bench, 'cpu: "7"', 'cpu: "1"')
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", stay)
    page.reload()
    assert asked == ["beforeunload"]


def pod(bench: Workbench, name: str) -> None:
    """Add a pod by its form."""
    bench.build.get_by_role("button", name="Add", exact=True).click()
    bench.build.get_by_role("menuitem", name="Pod", exact=True).click()
    form = bench.page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_have_count(0)


def pods(bench: Workbench) -> list[str]:
    """Return the names of the pods that the workbench shows."""
    keys: list[str] = bench.page.evaluate("podstep.playback.pods.keys")
    return sorted(key.removeprefix("default/") for key in keys)


def test_two_tabs_undo_edit_and_end(page: Page) -> None:
    """What each tab undoes, edits, names and keeps is its own; what one deletes the other can keep."""
    one, other = both(page)
    undo_of_what_the_other_tab_changed_since_is_asked_about(one, other)
    undo_takes_back_ones_own_edits_alone(one, other)
    an_object_is_edited_while_another_tab_saves(one, other)
    a_title_is_followed_and_not_overwritten(one, other)
    third = each_tab_keeps_what_is_typed_in_it(one, other)
    a_draft_that_is_deleted_elsewhere_can_be_kept(one, third)


def undo_of_what_the_other_tab_changed_since_is_asked_about(one: Workbench, other: Workbench) -> None:
    """It would revert the other tab's edit, so both versions are shown first."""
    edit(one, 'cpu: "1"', 'cpu: "7"')
    becomes(lambda: cpus(other), [7, 2, 3])
    edit(other, 'cpu: "7"', 'cpu: "9"')
    becomes(lambda: cpus(one), [9, 2, 3])
    undo = one.build.get_by_role("button", name="Undo")
    undo.click()
    overlap(one).get_by_role("button", name="Decide later").click()
    expect(one.page.get_by_text("It could not be undone: Nothing was saved")).to_be_visible()
    assert cpus(other) == [9, 2, 3]
    undo.click()
    overlap(one).get_by_role("button", name="Keep mine").click()
    becomes(lambda: cpus(other), [1, 2, 3])
    expect(undo).to_be_disabled()


def undo_takes_back_ones_own_edits_alone(one: Workbench, other: Workbench) -> None:
    """Undo and Redo in either tab leave what the other tab did; so does the list of breakpoints of either."""
    pod(one, "first")
    becomes(lambda: pods(other), ["first"])
    pod(other, "second")
    becomes(lambda: pods(one), ["first", "second"])
    pod(one, "third")
    becomes(lambda: pods(other), ["first", "second", "third"])
    undo, redo = (one.build.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    undo.click()
    becomes(lambda: pods(other), ["first", "second"])
    undo.click()
    becomes(lambda: pods(other), ["second"])
    expect(undo).to_be_disabled()
    pod(other, "fourth")
    becomes(lambda: pods(one), ["fourth", "second"])
    redo.click()
    becomes(lambda: pods(other), ["first", "fourth", "second"])
    redo.click()
    becomes(lambda: pods(other), ["first", "fourth", "second", "third"])
    expect(redo).to_be_disabled()
    other.build.get_by_role("button", name="Undo").click()
    becomes(lambda: pods(one), ["first", "second", "third"])
    for bench, text in ((one, "node:n1"), (other, "node:n2")):
        bench.page.evaluate("(text) => podstep.breakpoints.add(text)", text)
        for each in (one, other):
            each.page.wait_for_function("(text) => podstep.breakpoints.has(text)", arg=text)
    one.page.reload()
    one.wait()
    assert one.page.evaluate("podstep.breakpoints.enabled") == ["node:n1", "node:n2"]


def opened(bench: Workbench, node: str) -> tuple[Locator, Yaml]:
    """Open a node to be edited; return the dialog and its editor."""
    bench.stage.get_by_role("button", name=re.compile(f"^{node},")).focus()
    bench.page.keyboard.press("e")
    box = bench.page.get_by_role("dialog", name=f"Edit Node {node}")
    expect(box).to_be_visible()
    return box, editor_in(box, re.compile("as YAML"))


def an_object_is_edited_while_another_tab_saves(one: Workbench, other: Workbench) -> None:
    """The dialog keeps what is typed; another field of the object is merged, the same one is asked about."""
    box, editor = opened(one, "n1")
    editor.fill(editor.text.replace("memory: 8Gi", "memory: 4Gi"))
    edit(other, 'cpu: "1"', 'cpu: "9"')
    becomes(lambda: cpus(one), [9, 2, 3])
    assert "memory: 4Gi" in editor.text
    box.get_by_role("button", name="Apply", exact=True).click()
    expect(box).to_have_count(0)
    becomes(lambda: "memory: 4Gi" in saved(one), True)
    assert cpus(other)[0] == 9
    box, editor = opened(one, "n2")
    editor.fill(re.sub(r"cpu: .*", 'cpu: "6"', editor.text))
    edit(other, 'cpu: "2"', 'cpu: "8"')
    becomes(lambda: cpus(one), [9, 8, 3])
    box.get_by_role("button", name="Apply", exact=True).click()
    overlap(one).get_by_role("button", name="Take theirs").click()
    expect(box.get_by_text("The other tab’s change was kept")).to_be_visible()
    assert 'cpu: "6"' in editor.text
    assert cpus(other) == [9, 8, 3]
    box.get_by_role("button", name="Cancel").click()


def a_title_is_followed_and_not_overwritten(one: Workbench, other: Workbench) -> None:
    """The other tab shows the new title; of two that are typed at once neither goes unasked."""
    titles = [bench.page.get_by_role("textbox", name="Title") for bench in (one, other)]
    titles[0].fill("First")
    expect(titles[1]).to_have_value("First")
    other.page.evaluate("podstep.socket.drop()")
    titles[1].fill("Mine")
    other.page.get_by_text("Another tab has renamed").wait_for(state="hidden")
    expect(titles[0]).to_have_value("Mine")
    titles[0].fill("Typed here")
    titles[1].fill("Typed there")
    asked = one.page.get_by_text("Another tab has renamed")
    becomes(lambda: asked.count() + other.page.get_by_text("Another tab has renamed").count() > 0, True)
    loser = one if asked.count() else other
    loser.page.get_by_role("button", name="Keep mine").click()
    mine = "Typed here" if loser is one else "Typed there"
    for title in titles:
        expect(title).to_have_value(mine)


def each_tab_keeps_what_is_typed_in_it(one: Workbench, other: Workbench) -> Workbench:
    """Neither takes the other's over a reload; what a closed tab left is brought back in the next one."""
    write(one, 'cpu: "9"', 'cpu: "7"')
    write(other, 'cpu: "3"', 'cpu: "5"')
    for bench, own in ((one, 'cpu: "7"'), (other, 'cpu: "5"')):
        bench.page.reload()
        bench.wait()
        yaml_of(bench).shows(re.compile(own))
    assert 'cpu: "5"' not in yaml_of(one).text
    address = other.page.url
    other.page.close()
    third = Workbench(one.page.context.new_page()).open(address)
    yaml_of(third).shows(re.compile('cpu: "5"'))
    assert 'cpu: "7"' not in yaml_of(third).text
    apply(third)
    becomes(lambda: cpus(one), [9, 8, 5])
    assert 'cpu: "7"' in yaml_of(one).text
    return third


def a_draft_that_is_deleted_elsewhere_can_be_kept(one: Workbench, other: Workbench) -> None:
    """The tab that still shows it, with what is typed, makes a new draft of that."""
    other.page.evaluate("podstep.socket.call('draft.delete', { draft: podstep.playback.source.draft })")
    draft = one.page.url
    one.page.get_by_role("button", name="Keep it as a new draft").click()
    one.page.wait_for_url(lambda url: url != draft)
    one.wait()
    assert cpus(one)[0] == 7


def test_two_controls_at_once_are_both_in_force(page: Page) -> None:
    """A setting changed in each of two tabs in the same moment: neither is lost, whoever was first."""
    former = NODES.replace("status:\n", "status:\n  nodeInfo: {kubeletVersion: v1.11.10}\n")
    one, other = both(page, former, as_is=True)
    for bench in (one, other):
        bench.build.get_by_role("tab", name="Policy").click()
        expect(bench.build.get_by_label("Static order of predicates")).to_be_enabled()
    one.page.evaluate(HELD_SAVES)
    one.build.get_by_label("Quirks of v1.11").select_option("fixed")
    one.page.wait_for_function("() => Boolean(window.go)")
    other.build.get_by_label("Static order of predicates").select_option("proposal")
    becomes(lambda: "predicateOrder: proposal" in saved(other), True)
    one.page.evaluate("() => { const { go } = window; window.go = null; go(); }")
    one.page.wait_for_function("() => Boolean(window.go)")
    one.page.evaluate("() => window.go()")
    becomes(lambda: "quirks: fixed" in saved(one), True)
    assert "predicateOrder: proposal" in saved(one)
    expect(one.page.get_by_text("Merged with the changes of another tab")).to_be_visible()
