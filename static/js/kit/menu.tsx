// A menu under the button that opens it, or at a place of the page. Arrows, letters, Home and End choose; Escape and a
// press elsewhere close it.

import { render } from "preact";
import { $$, focusedNow, targetOf } from "../lib/dom.ts";
import { Icon } from "./icon.tsx";

export type Entry = { text: string; icon?: string | undefined; title?: string; run: () => void };
export type Section = { heading: string; entries: Entry[] };
export type Place = { x: number; y: number } | Element;

const MARGIN = 8; // pixels to the edges of the window

let open: { place: Place; close: () => void } | null = null;

/** Open it as a child of `within`; a button that has opened it closes it when it is pressed again. */
export function openMenu(label: string, sections: Section[], place: Place, within: Element = document.body) {
  const again = open?.place === place && place instanceof HTMLButtonElement;
  open?.close();
  if (again) return;
  const before = focusedNow();
  const end = new AbortController();
  const host = document.createElement("div");
  host.className = "menu-of";
  const expand = (on: boolean) => place instanceof HTMLButtonElement && place.setAttribute("aria-expanded", String(on));
  const close = (refocus = true) => {
    end.abort();
    host.remove();
    open = null;
    expand(false);
    if (refocus) before?.focus({ preventScroll: true });
  };
  const elsewhere = (event: Event) => {
    const target = targetOf(event);
    if (!host.contains(target) && !(place instanceof HTMLButtonElement && place.contains(target))) close(false);
  };
  addEventListener("pointerdown", elsewhere, { signal: end.signal, capture: true });
  addEventListener("resize", () => close(), { signal: end.signal });
  within.append(host);
  render(<Menu label={label} sections={sections} close={close} />, host);
  open = { place, close };
  expand(true);
  put(host.firstElementChild as HTMLElement, place);
  itemsOf(host)[0]?.focus();
}

type MenuProps = { label: string; sections: Section[]; close: (refocus?: boolean) => void };

export const Menu = ({ label, sections, close }: MenuProps) => (
  <div
    class="menu"
    role="menu"
    aria-label={label}
    onKeyDown={(event) => walk(event, close)}
    onContextMenu={(event) => event.preventDefault()}
  >
    {sections.map(({ heading, entries }) => (
      <div key={heading} role="group" aria-label={heading}>
        <div class="menu-head" aria-hidden="true">
          {heading}
        </div>
        {entries.map(({ text, icon, title, run }) => (
          <button
            key={text}
            type="button"
            role="menuitem"
            tabIndex={-1}
            title={title}
            onClick={() => {
              close();
              run();
            }}
          >
            {icon ? <Icon name={icon} /> : <span class="menu-blank" />}
            {text}
          </button>
        ))}
      </div>
    ))}
  </div>
);

const itemsOf = (menu: Element) => $$("[role=menuitem]", menu);

/** Put it where all of it is seen. */
function put(menu: HTMLElement, place: Place) {
  const box = place instanceof Element ? place.getBoundingClientRect() : null;
  const [x, y] = place instanceof Element ? [box?.left ?? 0, (box?.bottom ?? 0) + 4] : [place.x, place.y];
  const { offsetWidth: width, offsetHeight: height } = menu;
  const above = (box ? box.top - 4 : y) - height;
  const fits = y + height + MARGIN <= innerHeight;
  const top = fits ? y : Math.max(MARGIN, Math.min(above, innerHeight - height - MARGIN));
  menu.style.setProperty("left", `${Math.max(MARGIN, Math.min(x, innerWidth - width - MARGIN))}px`);
  menu.style.setProperty("top", `${top}px`);
}

function walk(event: KeyboardEvent, close: () => void) {
  const all = itemsOf(event.currentTarget as Element);
  const at = all.indexOf(event.target as HTMLElement);
  event.stopPropagation(); // no key of the workbench while a menu is open
  if (event.key === "Enter" || event.key === " ") return;
  const letter = /^[a-z]$/i.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey;
  const begins = (item: HTMLElement) => item.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase());
  const next = [...all.slice(at + 1), ...all.slice(0, at + 1)].find(begins);
  const to: Record<string, HTMLElement | undefined> = {
    ArrowDown: all[(at + 1) % all.length],
    ArrowUp: all.at(at - 1),
    Home: all[0],
    End: all.at(-1),
  };
  if (event.key === "Escape" || event.key === "Tab") close();
  else if (letter) next?.focus();
  else if (to[event.key]) to[event.key]?.focus();
  else return;
  event.preventDefault();
}
