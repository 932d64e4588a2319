// The page in another page's frame: one view of it if its address names one, at a step that may be locked. It
// sends its height to the page around it, so that the frame can be as high. A lesson's stage (data-views) has the tabs
// of its stop alone, and while a prediction is open nothing after a cycle (data-veil), or after a phase of it
// (data-upto).

import { picking } from "../view/picking.ts";
import { follow } from "../playback/store.ts";
import type { Layout } from "../layout/layout.ts";
import type { Playback } from "../playback/playback.ts";
import type { View } from "../view/view.ts";

const TYPE = "podstep:height"; // of the message, with `height` in CSS pixels
const EVERY = 100; // milliseconds between two messages at least
const MATRICES = ["predicates", "priorities"];

/** What the page around the frame chose, as keys of the address, which stay as they are; nothing outside of a frame. */
export function framing(): [key: string, text: string][] {
  const root = document.querySelector("[data-workbench]") as HTMLElement | null;
  if (!root) return [];
  const found: [string, string][] = [];
  if (root.dataset.embedView) found.push(["view", root.dataset.embedView]);
  if ("locked" in root.dataset) found.push(["lock", "1"]);
  if (root.dataset.views !== undefined) found.push(["views", root.dataset.views]);
  if (root.dataset.veil) found.push(["veil", root.dataset.veil]);
  if (root.dataset.upto !== undefined) found.push(["upto", root.dataset.upto]);
  return found;
}

/** Show the one view, and report the height. */
export function embedded(
  root: HTMLElement,
  { view, layout, playback }: { view: View; layout: Layout; playback: Playback },
) {
  const { embedView, views } = root.dataset;
  if (embedView) {
    document.body.classList.add("embedded-view");
    layout.show(embedView === "stage" ? "stage" : "inspect");
    const keep = () => {
      if (embedView === "story") view.setTab("story", { push: false });
      else if (embedView === "matrix" && !MATRICES.includes(view.tab)) view.setTab(MATRICES[0], { push: false });
    };
    // A link of the story, or a phase, may open another tab: here there is none.
    follow(playback.store.scenario, () => keep());
    follow(playback.store.step, () => keep());
    follow(view.store.tab, () => keep());
  }
  if (views !== undefined) {
    onlyTabs(view, views.split(",").filter(Boolean));
    if (parent !== window) picking(view);
  }
  if (parent !== window) report();
}

/** Keep to the tabs of a stop: a link of the story, or a phase, may open another one. */
function onlyTabs(view: View, keys: string[]) {
  const keep = () => {
    if (keys.length && !keys.includes(view.tab)) view.setTab(keys[0], { push: false });
  };
  follow(view.store.scenario, keep); // not before: the address is still to be read
  follow(view.store.step, keep);
  follow(view.store.tab, keep);
}

/** Send the page around the frame the height of this one, now and whenever that changes, ten times a second at most. */
function report() {
  let [sent, last, timer] = [0, -Infinity, 0];
  const send = () => {
    timer = 0;
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (!height || height === sent) return;
    [sent, last] = [height, performance.now()];
    parent.postMessage({ type: TYPE, height }, "*"); // it is no secret
  };
  new ResizeObserver(() => {
    if (!timer) timer = window.setTimeout(send, Math.max(0, last + EVERY - performance.now()));
  }).observe(document.body);
}
