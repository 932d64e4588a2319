// The examples' topics: those to start with, one topic, or all; the address names it, so that a teacher can send it.

import { targetOf, $, $$ } from "../lib/dom.ts";
import { plural } from "../lib/quantity.ts";

const NAME = "topic";
const FIRST = ""; // the topic of those to start with
const ALL = "all";

/** Make the buttons above the examples in `host` work. */
export function topics(host: HTMLElement) {
  const bar = $("[data-topics]", host);
  const status = $("[data-topic-status]", host);
  const buttons = $$("[data-topic]", bar);
  const groups = $$("[data-topic-of]", host);

  function show(slug: string) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.topic === slug));
    for (const group of groups) {
      const of = group.dataset.topicOf;
      group.hidden = slug === ALL ? of === FIRST : of !== slug;
    }
  }

  function choose(slug: string) {
    show(slug);
    const url = new URL(location.href);
    if (slug) url.searchParams.set(NAME, slug);
    else url.searchParams.delete(NAME);
    history.replaceState(history.state, "", url);
    const shown = $$("[data-example]", host).filter((card) => !card.closest("[hidden]"));
    status.textContent = `${plural(shown.length, "example")} shown.`;
  }

  bar.hidden = false;
  bar.addEventListener("click", (event) => {
    const button = targetOf(event).closest("[data-topic]");
    if (button) choose(button.dataset.topic ?? FIRST);
  });
  const asked = new URLSearchParams(location.search).get(NAME) ?? FIRST;
  show(buttons.some((button) => button.dataset.topic === asked) ? asked : FIRST);
}
