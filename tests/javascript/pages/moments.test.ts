// Moments inside a cycle: what is on screen, said or pointed at tells nothing that is decided later.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, drawn, eventually, nameOf, one, press, saying, shown, text } from "./queries.ts";
import { arrived, back, go, into, on } from "./walk.ts";
import { texts, Workbench } from "./workbench.ts";

/** A cycle as the engine decides it: `best` is the highest total of a node. */
type Cycle = { slug: string; index: number; pod: string; phases: string[]; moves: boolean; best: string | null };

const UNREAD = "[hidden], .about, script, style, template, noscript";
const INLINE = "a, abbr, b, bdi, button, code, em, i, kbd, label, s, small, span, strong, sub, sup, svg, svg *";
const NAMING = ["title", "aria-label", "aria-valuetext", "aria-description", "alt"];
/** What is drawn under the name of another phase, in virtual time. */
const DRAWN = ["preBind", "assume", "reserve", "postBind"];

/** Patterns of what is decided in the phases of a cycle that are still to come. */
function secrets({ pod, phases, best }: Cycle, coming: string[]) {
  const found: string[] = [];
  const before = phases.slice(0, phases.length - coming.length);
  if (coming.length)
    found.push("nodes are available", `assigned \\S*${pod}`, `${pod} is placed`, "unschedulable for now");
  if (coming.length) found.push("Consequences of this cycle", "rejected as a whole", "is rejected");
  if ((coming.includes("select") || coming.includes("assume")) && !before.includes("select"))
    found.push("\\bchosen\\b", "placed by this cycle");
  if (coming.includes("priorities") && best) found.push(best, "Best nodes", "score \\d");
  if (coming.includes("preemption"))
    found.push("nominated for", "\\bvictim", "Candidate nodes", "Where it cannot help");
  if (coming.includes("predicates"))
    found.push("rules out", "does not fit", "Insufficient", "nodes fit", "pass every predicate");
  return found.map((pattern) => new RegExp(pattern));
}

/** The text of a node as one reads it: without what is hidden or folded, a line for each block. */
function read(node: Node): string {
  if (node.nodeType === 3) return node.textContent ?? "";
  const element = node as Element;
  if (element.matches?.(UNREAD)) return "";
  const folded = element.matches?.("details:not([open])");
  const parts = folded ? [...element.children].filter((one) => one.matches("summary")) : [...element.childNodes];
  const words = parts.map(read).join("");
  return element.matches?.(INLINE) ? words : `${words}\n`;
}

/** All that somebody reads, hears or gets by pointing, but for the scenario's own words, which no step changes. */
function said({ document }: Workbench) {
  const pointed = [...document.querySelectorAll(NAMING.map((name) => `[${name}]`).join())]
    .filter((one) => !one.closest("#region-build, .about"))
    .flatMap((one) => NAMING.map((name) => one.getAttribute(name)).filter(Boolean));
  const live = [...document.querySelectorAll("[aria-live], [role=status], .sr")].map(text);
  return [document.title, read(document.body), ...pointed, ...live].join("\n");
}

/** By Shift and the arrow from phase to phase, over every tab: no text, title, label or announcement. */
async function tellsNothingOfLaterPhases(page: Workbench, cycle: Cycle) {
  await page.step(cycle.index - 1);
  const drawnAs = page.playback.timed ? DRAWN : [];
  const phases = cycle.phases.filter((one) => !drawnAs.includes(one) && (!cycle.moves || one !== "select"));
  for (const [at, phase] of phases.entries()) {
    assert.deepEqual((await on(page)).slice(0, 3), [cycle.index, 0, phase]);
    const patterns = secrets(cycle, phases.slice(at + 1));
    const tabs = all(page.inspect, "tab");
    assert.ok(tabs.length >= 7);
    for (const tab of tabs) {
      await click(tab);
      await eventually(() => assert.equal(page.document.querySelector("[data-inspect] > .waiting"), null));
      assert.equal(tab.getAttribute("aria-selected"), "true");
      const words = said(page);
      for (const pattern of patterns) {
        const found = words.search(pattern);
        assert.equal(found, -1, `${phase}, ${nameOf(tab)}: ${words.slice(Math.max(found - 100, 0), found + 100)}`);
      }
    }
    await page.tabbed("Story");
  }
  assert.equal((await back(page))[2], phases.at(-2));
  await page.step(cycle.index);
  await page.tabbed("Story");
  const words = said(page);
  assert.ok(
    secrets(cycle, phases).some((pattern) => pattern.test(words)),
    "nothing is told of the whole cycle either",
  );
}

/**
 * Verdicts and bars are of one moment: at every moment and phase of every cycle, and of whole cycles, no node is said
 * to lack what it has in the cluster that is drawn.
 */
async function lackWhatTheyAreSaidToLack(page: Workbench) {
  const { playback } = page;
  let looked = 0;
  for (let index = 1; index <= playback.cycles; index += 1) {
    playback.goto(index);
    await eventually(() => assert.ok(playback.index === index && playback.heavy(index), `no cycle ${index}`));
    const light = playback.light(index);
    const moments = playback.moments.map((_: unknown, at: number) => ({ at: at + 1 }));
    for (const wish of [{}, ...moments, ...light.phases.map((phase: string) => ({ phase }))]) {
      playback.goto(index, page.window.performance.now(), { at: 0, phase: "", ...wish });
      await drawn();
      await drawn();
      const { nodes, pods, cluster } = playback;
      for (const card of page.document.querySelectorAll<HTMLElement>(".node[data-node]")) {
        const words = `${card.textContent} ${card.getAttribute("aria-label")}`;
        const node = Number(card.dataset.node);
        for (const resource of ["cpu", "memory"].filter((one) => words.includes(`Insufficient ${one}`))) {
          looked += 1;
          const free = nodes[resource][node] - cluster[resource][node];
          const place = `${index}, ${JSON.stringify(wish)}: ${nodes.names[node]} has ${free} ${resource}`;
          assert.ok(free < pods[resource][light.pod], place);
        }
      }
    }
  }
  assert.ok(looked > 0);
}

const cycles = () => texts["cycles"] as unknown as Cycle[];
const note = (page: Workbench) => page.document.querySelector(".stop-note");

for (const slug of ["making-room", "coscheduling-no-room", "shop"])
  it(`no tab tells what a later phase decides: ${slug}`, async () => {
    const page = await Workbench.open(slug);
    for (const cycle of cycles().filter((one) => one.slug === slug)) await tellsNothingOfLaterPhases(page, cycle);
  });

for (const slug of ["making-room", "coscheduling-no-room", "node-fails"])
  it(`nodes that failed lack what they are said to lack: ${slug}`, async () => {
    await lackWhatTheyAreSaidToLack(await Workbench.open(slug));
  });

it("a stop and its reason are taken away by a step into its phases", async () => {
  const page = await Workbench.open("making-room");
  page.stage.focus();
  await press(page.stage, "n");
  await eventually(() => assert.match(text(note(page)!), /preemption for checkout/));
  await arrived(page);
  for (let times = 0; times < 2; times += 1) await back(page);
  assert.ok(!note(page) || !shown(note(page)!));
  assert.equal(page.playback.index, 1);
});

it("each tab whose matter is decided later says so, and what leads on", async () => {
  const page = await Workbench.open("making-room");
  await into(page, "queue");
  for (const [name, words] of [
    [/^Predicates/, "No predicate has run at this moment."],
    [/^Priorities/, "No node is ranked at this moment."],
    [/^Preemption/, "Preemption is not tried at this moment."],
  ] as const)
    assert.ok(text(await page.tabbed(name)).includes(words));
  const phases = all(one(page.stage, "list", "Phases of this cycle"), "listitem").map(text);
  assert.equal(phases.length, 2);
  assert.match(phases[1]!, /later phases are open/);
  const flying = [...page.stage.querySelectorAll("*")].filter(
    (element) => !element.children.length && shown(element) && text(element).includes("in flight"),
  );
  assert.equal(flying.length, 1);
  for (let times = 0; times < 2; times += 1) await on(page);
  assert.match(text(await page.tabbed(/^Preemption/)), /report-4 is deleted from worker-4/);
  // its victim is drawn once, where it still is
  const nominated = one(page.stage, "button", /^worker-4, .*1 victim to be deleted/);
  assert.equal(nominated.querySelectorAll(".pod.victim").length, 1);
  assert.equal(nominated.querySelectorAll(".pod:not(.ghost)").length, 3);
});

it("Why at the predicates has their reasons and no node that is nominated; the rest is one press away", async () => {
  const page = await Workbench.open("making-room");
  await into(page, "predicates");
  await click(one(await page.tabbed("Story"), "button", "Why?"));
  const dialog = await eventually(() => one(page.document, "dialog", /^Why checkout/));
  await eventually(() => assert.match(text(dialog), /0 of 8 nodes pass every predicate/));
  assert.match(text(dialog), /Insufficient cpu/);
  assert.doesNotMatch(text(dialog), /nominated|victim|verified/);
  await click(one(dialog, "button", "Show the whole cycle, and what would help"));
  assert.deepEqual((await arrived(page)).slice(0, 3), [1, 0, ""]);
  await eventually(() => assert.match(text(one(page.document, "dialog")), /checkout/));
});

it("nodes of a group that gives them back are full at PostFilter, and after it empty, and say so", async () => {
  const page = await Workbench.open("coscheduling-no-room", "step=3");
  await into(page, "postFilter");
  assert.equal(all(page.stage, "button", /^worker-\d, cpu 3 of 3, .*does not fit: Insuff/).length, 3);
  assert.equal(page.stage.querySelectorAll(".node .pod.waiting").length, 3);
  assert.deepEqual((await go(page, "ArrowRight")).slice(0, 3), [4, 0, ""]);
  const empty = /^worker-\d, cpu 0 of 3, .*did not fit when tried; 1 pod left since$/;
  assert.equal(all(page.stage, "button", empty).length, 3);
  assert.equal(page.stage.querySelectorAll(".node.failed").length, 0);
});

it("before the attempt no pod is named; after it groups and events are there as far as they have come", async () => {
  const page = await Workbench.open("coscheduling-no-room", "step=4");
  const moment = async (key: string) => {
    await press(one(page.document, "slider", "Moment"), key);
    return arrived(page);
  };
  const failed = async () => saying(await page.tabbed(/^Events/), "FailedScheduling").length;
  assert.deepEqual((await moment("Home")).slice(0, 2), [4, 1]);
  const groups = await page.tabbed(/^PodGroups/);
  assert.match(text(groups), /3 \/ 4/);
  assert.doesNotMatch(text(groups), /Consequences of this cycle/);
  assert.equal(await failed(), 0);
  await moment("ArrowRight");
  await eventually(async () => assert.notEqual(await failed(), 0));
  assert.match(text(await page.tabbed(/^PodGroups/)), /Consequences of this cycle/);
  await page.step(1);
  await moment("Home");
  assert.equal(page.playback.moments[0].kind, "event");
  assert.match(text(page.stage), /Before the attempt/);
  assert.match(text(await page.tabbed(/^Queue/)), /No pod is taken from the queue at this moment\./);
});

it("Preemption names no later cycle that was not visited, and goes there or says that there is none", async () => {
  const page = await Workbench.open("shop", "step=1&tab=preemption");
  assert.match(text(page.panel), /No preemption in this cycle\./);
  assert.doesNotMatch(text(page.panel), /#/);
  await click(one(page.panel, "button", "Go to the next cycle with one"));
  await eventually(() => assert.ok(page.playback.index > 1 || page.document.querySelector(".toast")));
});
