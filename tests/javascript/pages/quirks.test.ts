// What is shown of a quirk that changed a result: in the story, beside the predicates, on the timeline.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, eventually, one, shown, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const NOTICES = "Quirks of v1.11 in this cycle";
const CHANGED = /changed by a quirk of v1\.11/;

const said = (page: Workbench) => page.timeline.getAttribute("aria-valuetext") ?? "";

it("a notice says what was changed and what would come of it otherwise", async () => {
  const page = await Workbench.open("quirks", "step=1&tab=story");
  for (const tab of ["Story", "Predicates"]) {
    await page.tabbed(new RegExp(`^${tab}`));
    const notices = await eventually(() => one(page.panel, "group", NOTICES));
    assert.match(text(notices), /A quirk of v1\.11 changed verdicts of predicates, scores and the decision/);
    assert.match(text(notices), /In v1\.11 the pod goes to a-2; as it should be, the pod goes to b-1\./);
    one(notices, "link", /^last-anti-affinity-term/);
  }
});

it("there is no notice where quirks are fixed", async () => {
  const page = await Workbench.open("quirks-fixed", "step=1&tab=story");
  assert.match(text(page.panel), /is placed on b-1/);
  assert.equal(all(page.panel, "group", NOTICES).length, 0);
  assert.ok(!texts([...page.marks.children].filter(shown)).includes("quirk of v1.11"));
  for (let index = 1; index <= 3; index += 1) {
    await page.step(index);
    await eventually(() => assert.match(said(page), new RegExp(`^cycle ${index} of 3`)));
    assert.doesNotMatch(said(page), CHANGED);
  }
});

it("the timeline marks the cycles that a quirk changed", async () => {
  const page = await Workbench.open("quirks", "step=1");
  assert.ok(texts([...page.marks.children].filter(shown)).includes("quirk of v1.11"));
  for (let index = 1; index <= 3; index += 1) {
    await page.step(index);
    await eventually(() => assert.match(said(page), new RegExp(`^cycle ${index} of 3.*${CHANGED.source}`)));
  }
});
