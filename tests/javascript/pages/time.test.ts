// Walking through time: events, phases, seconds, operations, failures, and the end of a run.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, click, drawn, eventually, field, one, press, text, texts, type Name } from "./queries.ts";
import { arrived, back, go, on } from "./walk.ts";
import { Workbench } from "./workbench.ts";

/** A run in which no pod is ever tried. */
const EMPTY = `
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
`;

const unit = (page: Workbench) => field(page.document, "Unit of next and previous");
const placed = (page: Workbench): number[] => [...page.playback.cluster.placement];
const toasts = (page: Workbench) => texts(page.document.querySelectorAll(".toast"));
const address = (page: Workbench, wanted: RegExp) => eventually(() => assert.match(page.address, wanted));
const deck = (page: Workbench, part: string) => text(page.document.querySelector(`.deck ${part}`)!);
const moment = (page: Workbench) => one(page.document, "slider", "Moment");
const sentence = (page: Workbench) => text(page.document.querySelector(".moment-text")!);

/** Press a key until the walk stands where it stood, or at the beginning; return where it came by. */
async function walk(page: Workbench, key: string) {
  const stops = [{ here: await arrived(page), pods: placed(page) }];
  for (;;) {
    const here = await go(page, key);
    if (`${here}` === `${stops.at(-1)!.here}`) return stops;
    stops.push({ here, pods: placed(page) });
    assert.ok(stops.length < 400, "it does not end");
  }
}

it("events lead from moment to moment over all of a run, and back the same way", async () => {
  const page = await Workbench.open("churn");
  await choose(unit(page), "event");
  const forwards = await walk(page, ".");
  const end = page.playback.cycles + 1;
  assert.equal(forwards.at(-1)!.here[0], end);
  const times = forwards.map(({ here }) => here[3]);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.ok(forwards.length > 60);
  const seen = new Map(forwards.map(({ here: [step, at], pods }) => [`${step},${at}`, pods]));
  await go(page, "End");
  const backwards = (await walk(page, ",")).filter(({ here: [step, at] }) => at || step === end);
  for (const { here, pods } of backwards) {
    const earlier = seen.get(`${here.slice(0, 2)}`);
    if (earlier) assert.deepEqual(pods.slice(0, earlier.length), earlier, `${here}`);
  }
  assert.ok(backwards.length > 60);
  for (const [number, { here, pods }] of forwards.slice(0, -1).entries()) {
    if (here[0] === forwards[number + 1]!.here[0]) continue; // not the last moment of a step
    page.playback.goto(here[0]);
    await arrived(page);
    assert.deepEqual(placed(page).slice(0, pods.length), pods, `${here}`);
  }
});

it("a moment has its sentence, its pods that wait, and its address", async () => {
  const page = await Workbench.open("coscheduling-room", "step=4");
  const waiting = () => page.stage.querySelectorAll(".node .pod.waiting").length;
  const key = async (name: string) => {
    await press(moment(page), name);
    return arrived(page);
  };
  await arrived(page);
  assert.equal(page.stage.querySelectorAll(".pod.waiting").length, 0);
  await key("Home");
  assert.match(moment(page).getAttribute("aria-valuetext")!, /^moment 1 of \d+, .*is tried and goes to worker-1\.$/);
  assert.equal(waiting(), 3);
  assert.match(sentence(page), /the attempt/);
  const ghosts = [3];
  for (let times = 0; times < 9; times += 1) {
    await key("ArrowRight");
    ghosts.push(waiting());
  }
  assert.deepEqual(
    ghosts,
    ghosts.toSorted((a, b) => b - a),
  );
  assert.equal(ghosts.at(-1), 0);
  assert.ok(ghosts.includes(2));
  await key("Home");
  await address(page, /^\?step=4&at=1$/);
  await page.reload();
  assert.deepEqual((await arrived(page)).slice(0, 2), [4, 1]);
  assert.equal(waiting(), 3);
  assert.equal((await key("Escape"))[1], 0);
  await address(page, /^\?step=4$/);
});

it("phases light up, and the tab of the phase opens", async () => {
  const page = await Workbench.open("coscheduling-room", "step=3&tab=queue");
  const lit = () => texts(page.stage.querySelectorAll("[aria-label='Phases of this cycle'] [aria-current=step]"));
  const drawnAs = (...classes: string[]) => classes.map((one) => page.stage.querySelectorAll(one).length);
  await arrived(page);
  assert.deepEqual(lit(), []);
  assert.deepEqual((await on(page)).slice(0, 3), [4, 0, "queue"]);
  for (const [phase, tab, failed, added] of [
    ["preFilter", "PodGroups", 0, 0],
    ["predicates", "Predicates", 2, 0],
    ["permit", "PodGroups", 2, 1],
    ["bind", "PodGroups", 2, 1],
  ] as const) {
    assert.equal((await on(page))[2], phase);
    assert.deepEqual(lit(), [phase]);
    assert.deepEqual(drawnAs(".node.failed", ".node .pod.added"), [failed, added], phase);
    assert.match(text(page.inspect.querySelector("[role=tab][aria-selected=true]")!), new RegExp(tab));
  }
  await back(page);
  await address(page, /step=4&phase=permit/);
  await page.reload();
  assert.deepEqual((await arrived(page)).slice(0, 3), [4, 0, "permit"]);
  for (let times = 0; times < 4; times += 1) await back(page);
  assert.deepEqual((await arrived(page)).slice(0, 3), [3, 0, "permit"]);
  await page.goto(`${page.window.location.pathname}?step=4&phase=preemption`); // which this cycle did not come to
  assert.deepEqual((await arrived(page)).slice(0, 3), [4, 0, ""]);
});

it("who reads another tab than a phase's keeps it, under a Policy of v1.11 too", async () => {
  const page = await Workbench.open("shop", "step=1");
  await choose(unit(page), "phase");
  const turn = async (name: Name) => {
    await click(one(page.document, "button", name));
    return arrived(page);
  };
  assert.deepEqual((await turn("Next phase")).slice(0, 3), [2, 0, "queue"]);
  assert.equal(one(page.inspect, "tab", "Story").getAttribute("aria-selected"), "true");
  const chosen = () => all(page.stage, "button", /^[^,]+, cpu .*, chosen/).length;
  for (const phase of ["predicates", "priorities", "select", "assume", "bind"])
    assert.equal((await turn("Next phase"))[2], phase);
  assert.equal(chosen(), 1);
  for (let times = 0; times < 3; times += 1) await turn("Previous phase");
  assert.equal(chosen(), 0);
});

it("seconds go on by whole ones, and back the same way", async () => {
  const page = await Workbench.open("churn");
  await choose(unit(page), "second");
  const stops = (await walk(page, ".")).map(({ here }) => here);
  const seconds = stops.map(([, , , time]) => Math.floor(time));
  assert.deepEqual(
    seconds,
    [...new Set(seconds)].sort((a, b) => a - b),
  );
  assert.ok(seconds.includes(12), "the Deployment grows");
  assert.ok(
    stops.some(([, at]) => at),
    "moments within a step are among them",
  );
  for (const stop of stops.slice(1, -1).reverse()) assert.deepEqual(await go(page, ","), stop);
  assert.equal((await go(page, ","))[0], 0);
});

it("operations and failures are found both ways", async () => {
  const page = await Workbench.open("a-day");
  await choose(unit(page), "operation");
  const marked = [...page.playback.marks.operated].flatMap((operated, index) => (operated ? [index] : []));
  assert.ok(marked.length > 1);
  for (const index of marked) assert.equal((await go(page, "."))[0], index);
  await go(page, ".");
  await eventually(() => assert.deepEqual(toasts(page), ["No operation follows."]));
  assert.equal((await go(page, ","))[0], marked.at(-2));
  await choose(unit(page), "failure");
  await go(page, "Home");
  const [first] = await go(page, ".");
  assert.equal(first, page.playback.marks.seek(0, 1, "uep"));
  await go(page, ",");
  await eventually(() => assert.deepEqual(toasts(page), ["No earlier cycle failed."]));
});

it("a scenario of v1.11 whose operations have times shows them, and has a moment for what lands", async () => {
  const page = await Workbench.open("a-day");
  assert.equal(page.playback.end, false);
  assert.equal((await go(page, "End"))[0], page.playback.cycles);
  assert.match(deck(page, ".at-time"), /t = 11h2m/);
  const landed = page.playback.marks.seekOperation(0, 1);
  await page.step(landed);
  await choose(unit(page), "event");
  await go(page, ",");
  assert.deepEqual((await go(page, ",")).slice(0, 2), [landed, 1]);
  assert.match(sentence(page), /From outside:/);
});

it("after the last cycle comes the end: in the deck, the address, four tabs and the timeline", async () => {
  const page = await Workbench.open("rolling-update");
  const { cycles } = page.playback;
  assert.equal((await go(page, "End"))[0], cycles + 1);
  assert.match(deck(page, ".at"), /End/);
  assert.match(deck(page, ".at-time"), /t = /);
  assert.equal(page.timeline.getAttribute("aria-valuetext"), "the end of the run");
  await address(page, /^\?step=end$/);
  assert.match(text(page.panel), /The run is over/);
  one(page.panel, "heading", /Since cycle/);
  const ending = [...page.panel.querySelectorAll<HTMLElement>(".ending li")];
  assert.ok(ending.length);
  assert.equal(ending.length, page.playback.moments.length);
  await click(ending[0]!.querySelector("button")!);
  assert.deepEqual((await arrived(page)).slice(0, 2), [cycles + 1, 1]);
  await address(page, /^\?step=end&at=1$/);
  assert.match(text(await page.tabbed(/^(Predicates|Filter)/)), /No pod is tried here: the run is over\./);
  const events = await page.tabbed(/^Events/);
  await eventually(() => assert.match(text(events.querySelector("tr.now")!), /end/));
  assert.doesNotMatch(text(await page.tabbed(/^Queue/)), /In flight/);
});

it("the end is come to by a link, by arrows and by the timeline", async () => {
  const page = await Workbench.open("churn", "step=end&tab=podgroups");
  const { cycles } = page.playback;
  assert.equal((await arrived(page))[0], cycles + 1);
  await eventually(() => one(page.panel, "heading", /PodGroup train/));
  assert.deepEqual((await go(page, "ArrowLeft")).slice(0, 2), [cycles, 0]);
  await go(page, "ArrowRight");
  await address(page, /step=end/);
  await page.reload();
  assert.equal((await arrived(page))[0], cycles + 1);
  await page.step(cycles);
  await press(page.timeline, "End");
  assert.equal((await arrived(page))[0], cycles + 1);
});

it("where nobody is ever tried the end comes right after the start, and walking says so", async () => {
  const page = await Workbench.open(EMPTY);
  assert.deepEqual([page.playback.cycles, page.playback.end], [0, true]);
  assert.equal((await go(page, "End"))[0], 1);
  assert.match(text(await page.tabbed("Story")), /The run is over/); // where no pod waits, Ask stands first
  for (const kind of ["phase", "cycle", "event", "second", "operation", "failure"]) {
    await choose(unit(page), kind);
    assert.equal((await go(page, "."))[0], 1);
    await eventually(() => assert.equal(toasts(page).length, 1));
  }
  await choose(unit(page), "cycle");
  assert.equal((await go(page, ","))[0], 0);
});

it("where no time passes the tab of workloads over time is not offered, and says so by an address", async () => {
  const page = await Workbench.open("first-cycle");
  assert.equal(all(page.inspect, "tab", /^Over time/).length, 0);
  await page.goto(`${page.window.location.pathname}?tab=availability`);
  await eventually(() => assert.match(text(page.panel), /No time passes in this scenario\./));
});

it("a connection that breaks again and again while it is opened anew leaves no rejection behind", async () => {
  const page = await Workbench.open("churn", "step=5");
  const { socket, playback } = page.window.podstep;
  for (let times = 0; times < 6; times += 1) {
    const down = new Promise<void>((resolve) => {
      const off = socket.on("down", () => {
        off();
        resolve();
      });
    });
    socket.drop();
    await down;
    page.window.dispatchEvent(new page.window.Event("online"));
    await eventually(() => assert.ok(socket.connected));
  }
  const asked = () => playback.ask("scenario.open", { source: playback.source });
  await Promise.all([asked(), asked(), asked(), asked()]);
  await Promise.all(["", "3", "", "2"].map((step) => playback.open(step)));
  await eventually(() => assert.equal(socket.unanswered, 0));
  await drawn(); // a rejection that nobody handles fails the case
});
