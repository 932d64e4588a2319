// A menu at a place of the page: where it was asked for by pointer, or under the element that has the focus.

import { focusedNow, h, icon, targetOf } from "../../lib/dom.js";

const MARGIN = 8;

/**
 * An entry: its text, an icon, and what it does.
 *
 * @typedef {{ text: string, name?: string, title?: string, run: () => void }} Entry
 * @typedef {{ heading: string, entries: Entry[] }} Section
 * @typedef {{ x: number, y: number } | Element} Place
 */

/**
 * Open it; arrows, letters, Home and End choose, Escape and a press elsewhere close it.
 *
 * @param {string} label
 * @param {Section[]} sections
 * @param {Place} place
 */
export function openMenu(label, sections, place) {
  document.querySelector(".verb-menu")?.remove();
  const before = focusedNow();
  const end = new AbortController();
  const close = (refocus = true) => {
    end.abort();
    list.remove();
    if (refocus) before?.focus({ preventScroll: true });
  };
  const list = h(
    "div",
    { class: "menu verb-menu", role: "menu", "aria-label": label },
    sections.map(({ heading, entries }) =>
      h(
        "div",
        { role: "group", "aria-label": heading },
        h("div", { class: "menu-head", "aria-hidden": "true", text: heading }),
        entries.map(({ text, name, title, run }) =>
          h(
            "button",
            {
              type: "button",
              role: "menuitem",
              tabindex: "-1",
              title,
              onclick: () => {
                close();
                run();
              },
            },
            name ? icon(name) : h("span", { class: "menu-blank" }),
            text,
          ),
        ),
      ),
    ),
  );
  list.addEventListener("keydown", (event) => walk(event, list, close));
  list.addEventListener("contextmenu", (event) => event.preventDefault());
  addEventListener("pointerdown", (event) => list.contains(targetOf(event)) || close(false), {
    signal: end.signal,
    capture: true,
  });
  addEventListener("resize", () => close(), { signal: end.signal });
  document.body.append(list);
  put(list, place);
  items(list)[0]?.focus();
}

/** @param {Element} list */
const items = (list) => /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[role=menuitem]")]);

/**
 * Put it where all of it is seen.
 *
 * @param {HTMLElement} list
 * @param {Place} place
 */
function put(list, place) {
  const box = place instanceof Element ? place.getBoundingClientRect() : null;
  const [x, y] = box ? [box.left, box.bottom + 4] : [/** @type {any} */ (place).x, /** @type {any} */ (place).y];
  const { offsetWidth: width, offsetHeight: height } = list;
  const above = box ? box.top - height - 4 : y - height;
  const top = y + height + MARGIN <= innerHeight ? y : Math.max(MARGIN, Math.min(above, innerHeight - height - MARGIN));
  list.style.setProperty("left", `${Math.max(MARGIN, Math.min(x, innerWidth - width - MARGIN))}px`);
  list.style.setProperty("top", `${top}px`);
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} list
 * @param {(refocus?: boolean) => void} close
 */
function walk(event, list, close) {
  const all = items(list);
  const at = all.findIndex((one) => one === document.activeElement);
  event.stopPropagation(); // no key of the workbench while a menu is open
  if (event.key === "Enter" || event.key === " ") return;
  if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    close();
    return;
  }
  const letter = /^[a-z]$/i.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey;
  const begins = (/** @type {HTMLElement} */ item) =>
    item.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase());
  const to = letter
    ? all.indexOf([...all.slice(at + 1), ...all.slice(0, at + 1)].find(begins))
    : { ArrowDown: (at + 1) % all.length, ArrowUp: (at - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[
        event.key
      ];
  if (to === undefined) return;
  event.preventDefault();
  all[to]?.focus();
}
