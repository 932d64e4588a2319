// The Inspect region: tabs over the record of the shown cycle. Only the open tab is drawn.

import { nodesOf } from "../../kit/node.tsx";
import { tabsIn } from "../../kit/tabs.tsx";
import { $ } from "../../lib/dom.ts";
import { termsIn } from "../playback/terms.ts";
import type { View } from "../view/view.ts";
import { Panel } from "./panel.tsx";
import { pointed } from "./pointed.ts";
import { TABS } from "./tabs.tsx";
import { follow } from "../playback/store.ts";

/** Connect the region with what is shown. */
export function inspect(region: HTMLElement, view: View) {
  const { playback } = view;
  const { views } = (region.closest("[data-workbench]") as HTMLElement).dataset;
  const only = views ? new Set(views.split(",")) : null; // a lesson shows the tabs of its stop
  const body = $("[data-inspect]", region);
  const panels = new Map<string, Panel>();
  const offered = new Map<string, boolean>(); // by tab, as far as it is known
  const mark = pointed(view, body);

  /** Whether a tab has another name in each release, of which none is known yet. */
  const opening = (key: string, term?: string) => Boolean(term) && !playback.nodes && view.tab !== key;

  /** The tabs that have something to show here, under the names that the release has for them. */
  const items = () =>
    TABS.map(({ key, title, term, offered: has, stays, badge }) => {
      const before = offered.get(key) ?? false;
      const now = !has || (stays && before) || (has(view) ?? before);
      offered.set(key, now);
      const [text = "", tone] = playback.nodes && badge ? [badge(view)].flat() : [];
      return {
        key,
        title: term ? (playback.nodes ? (termsIn(playback)[term] as string) : "…") : title,
        badge: [text, tone] as [string, string?],
        hidden: !((only?.has(key) ?? true) && (now || view.tab === key)) || opening(key, term),
      };
    });

  const strip = tabsIn($("[role=tablist]", region), body, items(), (key) => view.setTab(key));

  function panel() {
    const tab = TABS.find(({ key }) => key === view.tab) ?? TABS[0];
    const made = panels.get(tab.key) ?? new Panel(view, tab);
    panels.set(tab.key, made);
    return made;
  }

  function update() {
    if (!playback.nodes || playback.index < 0) return;
    strip.all(items());
    const shown = panel();
    if (shown.element.parentElement !== body) return; // another tab is being opened, which draws it in its place
    shown.update();
    mark();
  }

  function open() {
    strip.all(items());
    strip.select(view.tab);
    if (!playback.nodes) {
      body.replaceChildren(...nodesOf(<p class="empty">Opening…</p>));
      return;
    }
    body.replaceChildren(panel().element);
    body.className = `region-body tab-${view.tab}`;
    body.scrollTop = 0;
    update();
  }

  /** Make all panels again when they are wanted; the old ones listen to nothing any more. */
  function clear() {
    panels.clear();
    view.panels.abort();
    view.panels = new AbortController();
  }

  follow(view.store.tab, ({ focus }) => {
    open();
    if (focus) strip.focus(view.tab);
  });
  follow(playback.store.scenario, () => {
    const held = body.contains(document.activeElement); // what was pressed there goes with the old source
    clear();
    offered.clear();
    open();
    if (held) strip.focus(view.tab);
  });
  view.actions.relist.on(() => {
    clear();
    open();
  });
  follow(playback.store.shown, update);
  open();
}
