// Breakpoints: set where something stands and by a form, kept, brought by a link, and run to.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, click, eventually, field, fill, one, press, text, texts } from "./queries.ts";
import { arrived } from "./walk.ts";
import { texts as scenarios, Workbench } from "./workbench.ts";

const key = (page: Workbench, name: string) => press(page.document.body, name, { shiftKey: name === "R" });

async function panel(page: Workbench) {
  await key(page, "b");
  return eventually(() => one(page.document, "dialog", "Breakpoints"));
}

async function close(page: Workbench) {
  await click(one(one(page.document, "dialog", "Breakpoints"), "button", "Close"));
  await eventually(() => assert.equal(all(page.document, "dialog").length, 0));
}

const note = (page: Workbench) => page.document.querySelector<HTMLElement>(".stop-note");
const stopped = (page: Workbench, said: RegExp) =>
  eventually(() => assert.match(note(page) && !note(page)!.hidden ? text(note(page)!) : "", said));
const counted = (page: Workbench, count: number) =>
  eventually(() => one(page.document, "button", new RegExp(`^Breakpoints: ${count}`)));

/** Set a breakpoint by the form of the panel, and close it. */
async function setByForm(page: Workbench, kind: string, ...about: string[]) {
  const box = await panel(page);
  await choose(one(box, "combobox", "Stop when"), kind);
  for (const [place, words] of about.entries()) {
    const fields = [...box.querySelectorAll<HTMLInputElement>("input.field")].filter((it) => !it.closest("[hidden]"));
    await fill(fields[place]!, words);
  }
  await click(one(box, "button", "Set this breakpoint"));
  await eventually(() => assert.ok(all(box, "checkbox").length));
  await close(page);
}

it("failures are run to and back, and after the last one it says so", async () => {
  const page = await Workbench.open("shop");
  const box = await panel(page);
  await click(one(box, "button", "any pod is unschedulable"));
  await eventually(() => assert.match(texts(all(box, "listitem")).join(), /nowhere so far/)); // of visited cycles
  await close(page);
  await eventually(() => assert.ok(page.playback.light(26)));
  for (const [index, pod] of [
    [17, "search-6"],
    [26, ""],
  ] as const) {
    await key(page, "r");
    await page.at(index);
    await stopped(page, new RegExp(`stopped: ${pod}.* is unschedulable`));
  }
  await key(page, "r");
  await eventually(() => assert.match(text(page.document.body), /No later cycle breaks\./));
  await key(page, "R");
  await page.at(17);
  await page.step(18);
  await eventually(() => assert.ok(!note(page) || note(page)!.hidden));
});

it("what no mark tells of is searched by the server, both ways, and the slider says that it breaks", async () => {
  const page = await Workbench.open("picky");
  await setByForm(page, "predicate", "MatchNodeSelector", "n3");
  await key(page, "r");
  await page.at(70);
  await stopped(page, /stopped: MatchNodeSelector failed on n3/);
  await page.step(80);
  await key(page, "R");
  await page.at(70);
  await eventually(() => assert.match(page.timeline.getAttribute("aria-valuetext")!, /a breakpoint$/));
});

it("of the cycle on screen its pod and itself are offered, of a selected node its own first", async () => {
  const page = await Workbench.open("shop", "step=17");
  let box = await panel(page);
  one(box, "button", /^search-6 is tried/);
  one(box, "button", "cycle 17");
  await close(page);
  await click(page.node("general-4"));
  box = await panel(page);
  const offers = all(one(box, "group", "Stop when"), "button");
  assert.equal(text(offers[0]!), "general-4 is chosen, nominated or changes");
  assert.equal(text(offers[1]!), "GeneralPredicates fails on general-4");
  await click(offers[0]!);
  await close(page);
  await page.step(0);
  await key(page, "r");
  await stopped(page, /general-4 is chosen for/);
});

it("a node's sheet, a rung of the ladder and the cycle have buttons that set and remove one", async () => {
  const page = await Workbench.open("shop", "step=17&tab=predicates");
  await click(page.node("general-4"));
  const buttons = [
    () =>
      one(one(page.document, "region", "Selected"), "button", /^Stop when general-4 is chosen, nominated or changes/),
    () => one(page.stage, "button", /^Stop when cycle 17/),
    () => one(page.panel, "button", /^Stop when GeneralPredicates fails/),
  ];
  for (const [before, button] of buttons.entries()) {
    const found = await eventually(button);
    assert.equal(found.getAttribute("aria-pressed"), "false");
    await click(found);
    await eventually(() => assert.equal(button().getAttribute("aria-pressed"), "true"));
    await counted(page, before + 1);
  }
  await click(buttons[1]!());
  await counted(page, 2);
});

it("a node that there is not, and a pod that is not named, are reported", async () => {
  const page = await Workbench.open("shop", "step=17");
  const box = await panel(page);
  const set = () => click(one(box, "button", "Set this breakpoint"));
  const said = (words: string) => eventually(() => assert.equal(text(one(box, "alert")), words));
  await choose(one(box, "combobox", "Stop when"), "node");
  await set();
  await said("Which node?");
  await fill(field(box, "node"), "nobody");
  await set();
  await said("There is no node nobody.");
  await choose(one(box, "combobox", "Stop when"), "pod");
  await fill(await eventually(() => field(box, "pod")), "search-6");
  await set();
  await eventually(() => assert.ok((one(box, "checkbox", /^search-6 is tried/) as HTMLInputElement).checked));
});

it("a link brings breakpoints, and what of it is no breakpoint is left out", async () => {
  const page = await Workbench.open("shop");
  await setByForm(page, "unschedulable");
  await setByForm(page, "node", "general-4");
  const { link } = page.window.podstep.breakpoints;
  const { pathname } = page.window.location;
  const other = await Workbench.another(`${pathname}?${link}`);
  await counted(other, 2);
  const wrong = await Workbench.another(`${pathname}?break=nonsense&break=cycle:x&break=node:`);
  assert.equal(all(wrong.document, "button", /^Breakpoints: [1-9]/).length, 0);
});

it("playing ends at the first cycle that breaks, and says why; playing again goes on from there", async () => {
  const page = await Workbench.open("picky", "step=66");
  await setByForm(page, "predicate", "MatchNodeSelector");
  await choose(field(page.document, "Speed"), "20");
  const play = () => one(one(page.document, "group", "Transport"), "button", /^Play/);
  await click(play());
  await page.at(70);
  await stopped(page, /stopped: MatchNodeSelector failed on n1 and n3/);
  await click(await eventually(play));
  await eventually(() => assert.equal(page.playback.index, 80));
});

it("while it is searched the note says so; Cancel ends it, and one stands where one stood", async () => {
  const page = await Workbench.open("picky");
  const { socket } = page.window.podstep;
  const call = socket.call.bind(socket);
  socket.call = (name: string, payload: object) =>
    name === "cycle.find" ? new Promise(() => {}) : call(name, payload);
  await setByForm(page, "predicate", "MatchNodeSelector");
  await key(page, "r");
  await stopped(page, /searching on/);
  await click(one(note(page)!, "button", "Cancel"));
  await eventually(() => assert.ok(!note(page) || note(page)!.hidden));
  assert.equal(page.playback.index, 0);
});

it("the next cycle worth a look is one that fails or meets something new, and says what; and back", async () => {
  const cycles = scenarios["shop-cycles"] as unknown as { failed: boolean; quirks: Record<string, string> }[];
  const page = await Workbench.open("shop");
  const said = new Map<number, string>();
  const look = async (shiftKey: boolean) => {
    await press(page.document.body, shiftKey ? "N" : "n", { shiftKey });
    return (await arrived(page))[0];
  };
  for (let [before, index] = [0, await look(false)]; index !== before; [before, index] = [index, await look(false)])
    said.set(index, text(note(page)!));
  await eventually(() => assert.match(text(page.document.body), /No later cycle is interesting/));
  const met = [...said.keys()];
  assert.deepEqual(
    met,
    met.toSorted((a, b) => a - b),
  );
  assert.ok(met.length < cycles.length / 2);
  assert.match(said.get(met[0]!)!, /first pod of/);
  const known = new Set<string>();
  for (const [at, { failed, quirks }] of cycles.entries()) {
    if (failed) assert.match(said.get(at + 1) ?? "", /is unschedulable/);
    const [first] = Object.values(quirks);
    if (Object.keys(quirks).some((id) => !known.has(id))) assert.ok(said.get(at + 1)!.includes(first!), `${at + 1}`);
    for (const id of Object.keys(quirks)) known.add(id);
  }
  for (const index of met.slice(0, -1).reverse()) {
    assert.equal(await look(true), index);
    await eventually(() => assert.equal(text(note(page)!), said.get(index)));
  }
});
