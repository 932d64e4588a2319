// What is shown of a quirk that changed a result: in the story, beside the predicates, on the timeline.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, eventually, one, shown, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const NOTICES = "Quirks of v1.11 in this cycle";

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
  assert.deepEqual(await changed(page), []);
});

it("the timeline marks the cycles that a quirk changed", async () => {
  const page = await Workbench.open("quirks", "step=1");
  assert.ok(texts([...page.marks.children].filter(shown)).includes("quirk of v1.11"));
  assert.deepEqual(await changed(page), [1, 2, 3]);
});

/** The cycles of which the slider says so. */
async function changed(page: Workbench) {
  const found: number[] = [];
  for (let index = 1; index <= page.playback.cycles; index += 1) {
    await page.step(index);
    const said = () => page.timeline.getAttribute("aria-valuetext")!;
    await eventually(() => assert.match(said(), new RegExp(`^cycle ${index} of`)));
    if (said().includes("changed by a quirk of v1.11")) found.push(index);
  }
  return found;
}
