// A tab strip with the keyboard of the ARIA pattern: arrows move and select, Home and End jump.

import { render, type ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { $, $$, perFrame, targetOf } from "../lib/dom.ts";
import { Icon } from "./icon.tsx";

export type TabItem = {
  key: string;
  title: string;
  /** What stands beside it, and the class that gives it its colour. */
  badge?: [text: string, tone?: string];
  hint?: string;
  /** It is not offered now. */
  hidden?: boolean;
};

type StripProps = {
  label: string;
  items: TabItem[];
  selected: string;
  onSelect: (key: string) => void;
  /** The id of the element that they show something in: it begins those of the tabs. */
  panel: string;
};

const PEEK = 28; // pixels of a neighbour that show that there is one

/** The id of a tab. */
const idOf = (panel: string, key: string) => `${panel}-${key}`;

/** Show at which side of a strip there is more. */
function edges(strip: HTMLElement) {
  strip.classList.toggle("more-before", strip.scrollLeft > 1);
  strip.classList.toggle("more-after", strip.scrollLeft + strip.clientWidth < strip.scrollWidth - 1);
}

/** Scroll the open tab into view whole, with a piece of the one before; return whether its place is too narrow. */
function reveal(strip: HTMLElement) {
  const shown = $('[aria-selected="true"]', strip);
  if (shown && strip.clientWidth) {
    const left = shown.getBoundingClientRect().left - strip.getBoundingClientRect().left + strip.scrollLeft;
    strip.scrollLeft = Math.max(
      left + shown.offsetWidth + PEEK - strip.clientWidth,
      Math.min(strip.scrollLeft, left - PEEK),
    );
  }
  edges(strip);
  return strip.scrollWidth > (strip.parentElement as HTMLElement).clientWidth + 1;
}

export function TabStrip({ label, items, selected, onSelect, panel }: StripProps) {
  const list = useRef<HTMLDivElement>(null);
  const [cut, setCut] = useState(false); // whether the strip scrolls: then all of it is in a list as well
  const offered = items.filter(({ hidden }) => !hidden);
  useLayoutEffect(() => {
    const strip = list.current as HTMLElement;
    // A tab that comes, or whose number grows, moves the others: the open one stays in view.
    const observer = new ResizeObserver(() => setCut(reveal(strip)));
    for (const one of [strip, ...$$("[role=tab]", strip)]) observer.observe(one);
    return () => observer.disconnect();
  }, []);
  const soon = useRef(perFrame(() => list.current && setCut(reveal(list.current)))); // when it is laid out anyway
  useLayoutEffect(() => soon.current(), [selected]);
  const pressed = useRef(false); // the focus is here by a click: on the page the arrows then step
  const onKeyDown = (event: KeyboardEvent) => {
    if (pressed.current && !list.current?.closest("dialog")) return;
    const keys = offered.map(({ key }) => key);
    const at = keys.indexOf(targetOf(event).closest("[data-tab]")?.dataset.tab ?? "");
    const moves: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: keys.length - 1 };
    const to = moves[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const key = keys[(to + keys.length) % keys.length];
    onSelect(key);
    document.getElementById(idOf(panel, key))?.focus();
  };
  return (
    <div class="tab-strip">
      <div
        ref={list}
        class="tabs"
        role="tablist"
        aria-label={label}
        onScroll={() => edges(list.current as HTMLElement)}
        onKeyDown={onKeyDown}
        onPointerDown={() => (pressed.current = true)}
        onFocusOut={() => (pressed.current = false)}
      >
        {items.map(({ key, title, badge: [text, tone = ""] = [""], hint, hidden = false }) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={idOf(panel, key)}
            aria-controls={panel}
            aria-selected={key === selected}
            tabIndex={key === selected ? 0 : -1}
            data-tab={key}
            title={hint}
            hidden={hidden}
            onClick={() => onSelect(key)}
          >
            <span>{title}</span>
            <em aria-hidden="true" class={tone}>
              {text}
            </em>
          </button>
        ))}
      </div>
      <label class="all-tabs" title="All tabs" hidden={!cut}>
        <Icon name="more" />
        <select aria-label="All tabs" value={selected} onChange={(event) => onSelect(event.currentTarget.value)}>
          {cut
            ? offered.map(({ key, title }) => (
                <option key={key} value={key} selected={key === selected}>
                  {title}
                </option>
              ))
            : null}
        </select>
      </label>
    </div>
  );
}

type TabsProps = {
  label: string;
  /** The panel's, and the beginning of the tabs'. */
  id: string;
  class?: string;
  options: [key: string, text: string][];
  value: string;
  onChange: (key: string) => void;
  children?: ComponentChildren;
};

/** A strip of tabs, and the panel of the one that is open. */
export const Tabs = ({ label, id, class: className, options, value, onChange, children }: TabsProps) => (
  <>
    <TabStrip
      label={label}
      items={options.map(([key, title]) => ({ key, title }))}
      selected={value}
      onSelect={onChange}
      panel={id}
    />
    <div class={className} id={id} role="tabpanel" aria-labelledby={idOf(id, value)}>
      {children}
    </div>
  </>
);

/** Tabs in the place of `list` for a module that builds its DOM by hand; `show` changes what is said of one. */
export function tabsIn(list: HTMLElement, panel: HTMLElement, items: TabItem[], onSelect: (key: string) => void) {
  const host = document.createElement("div");
  const label = list.getAttribute("aria-label") ?? "";
  panel.id ||= `tabs-${label.toLowerCase().replace(/\W+/g, "-")}`;
  panel.setAttribute("role", "tabpanel");
  let shown = items;
  let selected = "";
  const draw = () => render(<TabStrip {...{ label, selected, onSelect, panel: panel.id }} items={shown} />, host);
  draw();
  list.replaceWith(host);
  return {
    select(key: string) {
      selected = key;
      draw();
      panel.setAttribute("aria-labelledby", idOf(panel.id, key));
    },
    show(key: string, more: Partial<TabItem>) {
      shown = shown.map((one) => (one.key === key ? { ...one, ...more } : one));
      draw();
    },
    /** Show others. */
    all(others: TabItem[]) {
      shown = others;
      draw();
    },
    focus: (key: string) => document.getElementById(idOf(panel.id, key))?.focus(),
  };
}
