// A tab strip with the keyboard of the ARIA pattern: arrows move and select, Home and End jump.

import { h, fill, icon, perFrame } from "../lib/dom.js";

const PEEK = 28; // pixels of a neighbour that show that there is one

export function tabs(list, entries, panel, onSelect) {
  const prefix = panel.id || `tab-${Math.random().toString(36).slice(2, 7)}`;
  panel.id = `${prefix}-panel`;
  panel.setAttribute("role", "tabpanel");
  const buttons = new Map(
    entries.map(([key, label]) => [
      key,
      h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `${prefix}-${key}`,
          "aria-controls": panel.id,
          "aria-selected": "false",
          tabindex: "-1",
          "data-tab": key,
          onclick: () => onSelect(key),
        },
        h("span", { text: label }),
        h("em", { "aria-hidden": "true" }),
      ),
    ]),
  );
  fill(list, [...buttons.values()]);
  let shown = null; // the button of the tab that is open

  // Where the strip scrolls, all of it is in a list as well, so that no tab has to be found by scrolling.
  const all = h("select", { "aria-label": "All tabs", onchange: (event) => onSelect(event.target.value) });
  const menu = h("label", { class: "all-tabs", title: "All tabs", hidden: true }, icon("more"), all);
  list.after(menu);
  function choices() {
    menu.hidden = list.scrollWidth <= list.clientWidth + 1;
    if (menu.hidden) return;
    const offered = [...buttons].filter(([, button]) => !button.hidden);
    const rows = offered.map(([key, button]) => [key, button.querySelector("span").textContent]);
    if (all.dataset.rows !== String(rows)) {
      all.dataset.rows = String(rows);
      fill(
        all,
        rows.map(([value, text]) => h("option", { value, text })),
      );
    }
    all.value = shown?.dataset.tab ?? "";
  }

  /** Scroll the open tab into view whole, with a piece of the one before, and show at which side there is more. */
  function reveal() {
    if (shown && list.clientWidth) {
      const left = shown.getBoundingClientRect().left - list.getBoundingClientRect().left + list.scrollLeft;
      list.scrollLeft = Math.max(
        left + shown.offsetWidth + PEEK - list.clientWidth,
        Math.min(list.scrollLeft, left - PEEK),
      );
    }
    edges();
    choices();
  }
  function edges() {
    list.classList.toggle("more-before", list.scrollLeft > 1);
    list.classList.toggle("more-after", list.scrollLeft + list.clientWidth < list.scrollWidth - 1);
  }
  let wide = 0; // of the list as its height was measured

  /** A badge that comes and goes between two steps does not move the panel: of a width, the list keeps its height. */
  function steady() {
    if (list.clientWidth !== wide) list.style.minHeight = "";
    wide = list.clientWidth;
    list.style.minHeight = `${list.offsetHeight}px`;
  }
  const revealSoon = perFrame(reveal); // when the page is laid out anyway
  list.addEventListener("scroll", edges, { passive: true });
  // A tab that comes, or whose number grows, moves the others: the open one stays in view.
  const observer = new ResizeObserver(() => {
    steady();
    reveal();
  });
  for (const one of [list, ...buttons.values()]) observer.observe(one);
  list.addEventListener("keydown", (event) => {
    const keys = [...buttons.keys()].filter((key) => !buttons.get(key).hidden);
    const at = keys.indexOf(event.target.closest("[data-tab]")?.dataset.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: keys.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const key = keys[(to + keys.length) % keys.length];
    onSelect(key);
    buttons.get(key).focus();
  });
  return {
    select(key) {
      for (const [name, button] of buttons) {
        button.setAttribute("aria-selected", String(name === key));
        button.tabIndex = name === key ? 0 : -1;
      }
      const chosen = buttons.get(key);
      shown = chosen ?? null;
      revealSoon();
      panel.setAttribute("aria-labelledby", `${prefix}-${key}`);
    },
    badge(key, text, tone = "") {
      const em = buttons.get(key)?.querySelector("em");
      if (!em || (em.textContent === text && em.className === tone)) return;
      em.textContent = text;
      em.className = tone;
    },
    label(key, text) {
      buttons.get(key).querySelector("span").textContent = text;
    },
    title(key, text) {
      buttons.get(key).title = text;
    },
    offer(key, offered) {
      buttons.get(key).hidden = !offered;
    }, // the observer sees what that changes
    focus(key) {
      buttons.get(key)?.focus();
    },
  };
}
