// The stage of a lesson as the answer's form: while a find task is open, a click on a cell, a node, a pod or an event
// is the answer. The page around the frame says what can be answered and what is chosen; it hears what was picked.

import { $$, perFrame, targetOf } from "../../lib/dom.ts";
import { isRecording } from "../../lib/recorded.ts";
import { cellAt } from "./cells.ts";
import type { View } from "./view.ts";

/** From the lesson: the answers that can be picked, none while nothing is to be found; `chosen` are those given. */
export const OFFER = "podstep:offer";
/** To the lesson: an answer, as `key`; without one the stage is ready. */
export const PICK = "podstep:pick";
export type Offer = { type: string; keys: string[]; chosen: string[] };
/** To whom these are posted: a page of this server; in a file, which has no origin, whoever is around the frame. */
export const reader = () => (isRecording() ? "*" : location.origin);
/** Whether a message comes from such a page. */
export const isReader = (origin: string) => isRecording() || origin === location.origin;
/** From the author's page: what is clicked is asked about there. */
export const POINT = "podstep:point";
/** To the author's page: the place that was clicked, and the step; without a place the stage is ready. */
export const POINTED = "podstep:pointed";
export type Pointed = { type: string; place?: object; step: string };

const EVENTS = "table.events tbody tr";
const PLACES = `table.grid [data-column], ${EVENTS}, [data-node], [data-pod]`;

/** Take answers by pointer, and by Enter or Space where the focus is. Only the lesson's own page is listened to. */
export function picking(view: View) {
  const { playback } = view;
  let [keys, chosen] = [new Set<string>(), new Set<string>()];

  /** What an element stands for, the narrowest first. */
  const standing = (element: Element): string[] => {
    const found: string[] = [];
    const cell = cellAt(element);
    if (cell) found.push(`${cell[1]}/${cell[2]}`, cell[1]);
    const pod = element.closest<HTMLElement>("[data-pod]");
    if (pod) found.push((playback.pods.keys[Number(pod.dataset.pod)] ?? "").replace(/^default\//, ""));
    const node = element.closest<HTMLElement>("[data-node]");
    if (node) found.push(playback.nodes.names[Number(node.dataset.node)] ?? "");
    const event = element.closest(EVENTS);
    const about = event?.querySelector<HTMLElement>("td.object")?.dataset.value;
    if (about) found.push(`${event?.querySelector("td.reason")?.textContent} ${about.split("/").at(-1)}`);
    return found;
  };
  const keyOf = (element: Element) => standing(element).find((key) => keys.has(key));
  const tell = (key?: string) => parent.postMessage({ type: PICK, key }, reader());

  const mark = perFrame(() => {
    document.body.classList.toggle("picking", keys.size > 0);
    for (const element of $$(PLACES)) {
      const key = keys.size ? keyOf(element) : undefined;
      element.classList.toggle("pickable", key !== undefined);
      element.classList.toggle("picked", key !== undefined && chosen.has(key));
      if (element.matches(EVENTS) && key !== undefined) element.tabIndex = 0;
      else if (element.matches(EVENTS)) element.removeAttribute("tabindex");
    }
  });

  const take = (event: Event) => {
    const target = targetOf(event);
    const key = keys.size && !target.closest("thead") ? keyOf(target) : undefined;
    if (key === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // neither is another step shown, nor a reason asked for
    tell(key);
  };
  document.addEventListener("click", take, true);
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Enter" || event.key === " ") take(event);
    },
    true,
  );
  addEventListener("message", ({ data, origin, source }: MessageEvent<Offer>) => {
    if (source !== parent || !isReader(origin) || data?.type !== OFFER) return;
    [keys, chosen] = [new Set(data.keys), new Set(data.chosen)];
    mark();
  });
  new MutationObserver(() => {
    if (keys.size) mark();
  }).observe(document.body, { childList: true, subtree: true });
  tell();
}
