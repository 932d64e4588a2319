// Walks through a run by the keys of the stage: steps, moments and phases.

import assert from "node:assert/strict";
import { drawn, eventually, press } from "./queries.ts";
import type { Workbench } from "./workbench.ts";

/** Where a walk stands: its step, moment, phase and virtual seconds. */
export type Place = [step: number, moment: number, phase: string, time: number];

/** Wait until what was asked for is on screen, with all that belongs to it; return where that is. */
export async function arrived(page: Workbench): Promise<Place> {
  const { playback, view } = page.window.podstep;
  const place = await eventually((): Place => {
    const { index, wanted, at, parts, behind, phase, time } = playback;
    assert.ok(!view.walking && !behind && index === wanted, `it is at ${index} and not yet at ${wanted}`);
    assert.ok(at >= 0 && (index === 0 || parts !== null), `it has not all of ${index}, ${at}`);
    return [index, at, phase, time];
  });
  await drawn();
  return place;
}

/** Press a key on the stage; return where that leads. */
export async function go(page: Workbench, key: string, options = {}) {
  page.stage.focus();
  await press(page.stage, key, options);
  return arrived(page);
}

/** Go on to the next phase. */
export const on = (page: Workbench) => go(page, "ArrowRight", { shiftKey: true });
export const back = (page: Workbench) => go(page, "ArrowLeft", { shiftKey: true });

/** Go on to a phase of the next cycle. */
export async function into(page: Workbench, phase: string) {
  for (let reached = ""; reached !== phase;) {
    [, , reached] = await on(page);
    assert.ok(page.playback.index, phase);
  }
}
