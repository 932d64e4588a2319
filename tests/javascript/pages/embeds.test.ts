// Pages for frames: a locked step, which the server keeps as well, and a matrix of either tab.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, eventually, one, press, shown, text } from "./queries.ts";
import { arrived } from "./walk.ts";
import { Workbench } from "./workbench.ts";

const STEP = 14;

/** Share the shop; return the address of its page for frames at a step. */
async function shared() {
  const page = await Workbench.open("shop");
  return `${page.window.location.pathname.replace("/s/", "/e/")}?step=${STEP}`;
}

/** Ask for something as a script does, until no newer question of the page supersedes it; return how it ends. */
async function asked({ playback }: Workbench, command: string, more: object = {}): Promise<string> {
  const { socket, source } = playback;
  try {
    await socket.call(command, { source, ...more });
    return "answered";
  } catch (error) {
    const { code } = error as { code: string };
    return code === "request.superseded" ? asked({ playback } as Workbench, command, more) : code;
  }
}

const NEXT = { step: `${STEP + 1}`, parts: ["predicates"] };

it("a locked step stays for keys as for scripts, and the page asks nothing else", async () => {
  const address = await shared();
  const page = await Workbench.another(`${address}&view=stage&lock=1`);
  await click(all(page.stage, "button", /, cpu /)[0]!);
  await eventually(() => one(page.document, "region", "Selected"));
  for (const key of ["ArrowRight", "ArrowLeft", "End", "Home", ".", "n", " ", "g"]) {
    await press(page.stage, key);
    assert.equal(page.playback.wanted, STEP, key);
  }
  assert.equal(all(page.document, "dialog").length, 0);
  await eventually(() => assert.match(page.address, /lock=1/));
  assert.equal(await asked(page, "cycle.get", { ...NEXT, step: `${STEP}` }), "answered");
  assert.equal(await asked(page, "cycle.get", NEXT), "permission.denied");
  assert.equal(await asked(page, "timeline.get", { from: 1, to: 3 }), "permission.denied");
  assert.equal(await asked(page, "scenario.fork"), "permission.denied");
  const whole = await Workbench.another(`${address}&lock=1`);
  await press(whole.stage, "ArrowRight");
  assert.equal(whole.playback.wanted, STEP);
  for (const tab of [/^Predicates/, /^Priorities/, /^Queue/, /^Events/, /^Story/]) {
    const panel = await whole.tabbed(tab);
    await eventually(() => assert.ok(shown(panel) && text(panel)));
    assert.doesNotMatch(text(whole.document.body), /locked its step/);
  }
  const free = await Workbench.another(`${address}&view=stage`);
  assert.equal(await asked(free, "cycle.get", NEXT), "answered");
  assert.equal(await asked(free, "scenario.fork"), "permission.denied");
});

it("the priorities are a matrix too; a tab that has none gives way to the predicates", async () => {
  const address = await shared();
  for (const [tab, words] of [
    ["priorities", /LeastRequested/],
    ["events", /GeneralPredicates/],
  ] as const) {
    const page = await Workbench.another(`${address}&view=matrix&tab=${tab}`);
    await arrived(page);
    await eventually(() => assert.match(text(page.panel), words));
  }
});
