// The row over the stage: what colours the pods, by what nodes are grouped, and what the colours mean. A colour that is
// clicked is a filter: its pods light up, and the nodes that run them.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Select } from "../../kit/select.tsx";
import { announce, perFrame } from "../../lib/dom.ts";
import { count, plural } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { CLASSES, COLOURS } from "../view/colours.ts";
import { choices } from "../view/grouping.ts";
import { unqualified } from "../view/workload.ts";

/** Of each colour how many pods are placed, and the nodes with pods of the one that is lit up. */
export type Held = { amounts: Uint32Array; holders: Set<number> };

export function Legend({ view, held }: { view: View; held: Held }) {
  const { nodes } = view.playback;
  const groups = useMemo(() => choices(nodes), [nodes]);
  const labels = view.colours.entries.map(({ label }) => label);
  const row = useRef<HTMLDivElement>(null);
  const [all, setAll] = useState(false); // every colour is shown, in as many lines as it takes
  const [beyond, setBeyond] = useState(0); // colours that the row has no room for
  const fit = useMemo(
    () => perFrame(() => row.current && !row.current.matches(".all") && setBeyond(beyondIn(row.current))),
    [],
  );
  useLayoutEffect(fit); // the numbers have other widths
  useLayoutEffect(() => {
    const observer = new ResizeObserver(fit);
    if (row.current?.parentElement) observer.observe(row.current.parentElement);
    return () => observer.disconnect();
  }, [fit]);
  const toggle = (code: number, label: string, button: Element) => {
    view.lightColour(view.only === code ? -1 : code);
    button.scrollIntoView({ block: "nearest", inline: "nearest" });
    announce(
      view.only < 0
        ? "All pods are shown alike."
        : `${label}: ${plural(held.amounts[code] ?? 0, "pod")} on ${plural(held.holders.size, "node")} highlighted.`,
    );
  };
  const look = (name: "colour" | "group", label: string, options: [string, string][]) => (
    <label class="measure">
      <span>{label}</span>
      <Select
        aria-label={label}
        data-look={name}
        options={options}
        value={view.look[name]}
        onChange={(value) => view.setLook({ [name]: value })}
      />
    </label>
  );
  return (
    <div class="stage-looks">
      <div class="looks">
        {look("colour", "Colour", Object.entries(COLOURS))}
        {look("group", "Group by", groups)}
      </div>
      <div ref={row} class={`palette-row${all ? " all" : beyond ? " cut" : ""}`}>
        <div class="palette" role="group" aria-label="Colours of pods: choose one to highlight its pods">
          {view.colours.entries.map(({ code, label, title }) => (
            <button
              key={`${code}${label}`}
              type="button"
              class={held.amounts[code] ? "swatch" : "swatch none"}
              title={title}
              aria-pressed={view.only === code}
              onClick={({ currentTarget }) => toggle(code, label, currentTarget)}
            >
              <i class={`pod ${CLASSES[code]}`} />
              <span>{unqualified(label, labels)}</span>
              <em class="num">{count(held.amounts[code] ?? 0)}</em>
            </button>
          ))}
        </div>
        <button
          type="button"
          class="link fine"
          aria-expanded={all}
          hidden={!all && !beyond}
          onClick={() => setAll(!all)}
        >
          {all ? "fewer" : `+${count(beyond)} more`}
        </button>
      </div>
    </div>
  );
}

/** How many colours a row has no room for, beside a button that is as wide for any number; 0: it has for all. */
function beyondIn(row: HTMLElement) {
  const [list, more] = row.children as unknown as [HTMLElement, HTMLElement];
  const gap = parseFloat(getComputedStyle(row).columnGap || "0");
  if (list.scrollWidth <= list.clientWidth + (more.hidden ? 0 : more.offsetWidth + gap)) return 0;
  const end = list.getBoundingClientRect().left - list.scrollLeft + list.clientWidth;
  return Math.max(1, [...list.children].filter((one) => one.getBoundingClientRect().right > end).length);
}
