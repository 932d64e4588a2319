// Cache: what came from the equivalence cache in this cycle, what was invalidated by which row, and what was stale.

import { h, fill, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { count, held, plural } from "../../lib/quantity.js";
import { CacheClasses } from "./cacheclasses.js";
import { CacheMap } from "./cachemap.js";
import { CacheOff } from "./cacheoff.js";
import { CacheStep } from "./cachestep.js";
import { CacheTime } from "./cachetime.js";
import { DEFINITIONS, modeWords, percent, podLink, rate, reference, REMEDIES, swatch } from "./cachewords.js";
import { before, later } from "./byhand.js";
import { Worth } from "./worth.js";
/** @import { View } from "../view.js" */

/** @type {[key: string, label: string, panel: new (view: View) => any][]} */
const VIEWS = [
  ["step", "This step", CacheStep],
  ["map", "Map", CacheMap],
  ["classes", "Classes", CacheClasses],
  ["time", "Over time", CacheTime],
  ["worth", "Worth it?", Worth],
];
const WHOLE_RUN = new Set(["time", "worth"]); // they need no cycle
/** Of the modes that keep no results, and of a release without the cache. */
const VIEWS_OF = {
  off: new Set(["step", "worth"]),
  batching: new Set(["step", "time", "worth"]),
  gone: new Set(["step"]),
};

const MANY = 1e5; // from here on a number is shortened where there is little room
const brief = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

/**
 * A number, and a short form of it for narrow places.
 *
 * @param {string} text
 */
function figure(text) {
  const value = Number(text.replaceAll(",", ""));
  return value >= MANY
    ? [
        h("span", { class: "exact", text }),
        h("span", { class: "brief", "aria-label": text, title: text, text: brief.format(value) }),
      ]
    : text;
}

export class Cache {
  #panels = new Map();
  #head = null; // the part that the head shows
  #shown = null; // what stands below the switch

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.head = h("div", { class: "cache-head" });
    this.buttons = new Map(
      VIEWS.map(([key, label]) => [
        key,
        h("button", { type: "button", "data-view": key, onclick: () => view.setSub(key === "step" ? "" : key) }, label),
      ]),
    );
    this.nav = h("span", { class: "seg cache-views", role: "group", "aria-label": "Views of the cache" }, [
      ...this.buttons.values(),
    ]);
    this.body = h("div", { class: "cache-body" });
    this.off = new CacheOff(view);
    this.element = h("div", { class: "cache-tab" }, this.head, h("div", { class: "cache-nav" }, this.nav), this.body);
    view.on(
      "sub",
      () => {
        if (this.element.isConnected) this.update();
      },
      view.panels,
    );
    view.playback.on(
      "grew",
      () => {
        if (this.element.isConnected && this.#key === "time") this.#panel("time").update();
      },
      view.panels,
    );
  }

  get #key() {
    const key = this.view.sub.split("/")[0];
    return this.buttons.has(key) ? key : "step";
  }

  /** @param {string} key */
  #panel(key) {
    if (!this.#panels.has(key)) this.#panels.set(key, new (VIEWS.find(([name]) => name === key)[2])(this.view));
    return this.#panels.get(key);
  }

  update() {
    const { view } = this;
    const { playback } = view;
    const started = Boolean(playback.current);
    const part = started ? playback.parts?.cache : null;
    this.element.classList.toggle("waiting", started && !part);
    if (started && !part) return;
    const off = started && part.why !== undefined;
    const none = playback.complete && !playback.cycles; // no pod is waiting: there is nothing to measure
    const has = (/** @type {string} */ name) =>
      VIEWS_OF[part?.gone ? "gone" : (part?.mode ?? playback.policy?.cache)]?.has(name) ?? true;
    const key = has(this.#key) ? this.#key : "step";
    for (const [name, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(name === key));
      button.hidden = !has(name);
    }
    this.nav.hidden = !has("worth"); // nothing to choose from
    const held = this.element.contains(document.activeElement);
    if (part !== this.#head) {
      this.#head = part;
      fill(this.head, part && !off ? this.#about(part) : null);
    }
    this.head.hidden = !part || off;
    if (!started && (none || !WHOLE_RUN.has(key))) this.#show("before", () => before(view));
    else if (
      !off
      && key === "step"
      && started
      && playback.current.result === "undecided"
      && !playback.current.phases.includes("predicates")
    )
      this.#show("before", () =>
        later(view, "The cache is not in use at this moment.", "It is used while the predicates run."),
      );
    else if (off && key === "step") {
      this.#show(this.off, () => this.off.element);
      this.off.update();
    } else {
      const panel = this.#panel(key);
      this.#show(panel, () => panel.element);
      panel.update();
    }
    // What had the focus may be gone with its cycle, or with the offer to switch the cache on.
    if (held && !this.element.contains(document.activeElement)) this.buttons.get(key).focus({ preventScroll: true });
  }

  #show(what, make) {
    if (this.#shown === what && what !== "before") return;
    this.#shown = what;
    fill(this.body, make());
  }

  #about(part) {
    const batching = part.mode === "batching";
    const settings = batching
      ? []
      : [`classes ${DEFINITIONS[part.equivalenceClass] ?? part.equivalenceClass}`, REMEDIES[part.staleWrites] ?? ""];
    return [
      h(
        "p",
        { class: "cache-mode" },
        h(
          "a",
          {
            class: "pill accent",
            href: reference(),
            target: "_blank",
            rel: "noopener",
            title: "the invalidation table, in another page",
          },
          `cache ${part.mode}`,
        ),
        h("span", { class: "dim", text: modeWords(part) }),
        batching
          ? null
          : h(
              "span",
              {
                class: `pill ${part.audit ? "pass" : ""}`,
                title: part.audit
                  ? "Every hit is checked against a fresh evaluation"
                  : "Cached answers are not checked",
              },
              icon(part.audit ? "check" : "minus"),
              part.audit ? "audit on" : "audit off",
            ),
      ),
      h(
        "p",
        { class: "cache-class" },
        this.#class(part),
        h(
          "small",
          { class: "dim" },
          settings.map((text) => `${text} · `),
          inline(
            () => this.view.emit("policy", "cache"),
            { title: "the cache’s settings in the Policy tab" },
            "settings",
          ),
        ),
      ),
      this.#numbers(part),
      batching || !this.view.playback.reached.over ? null : h("p", { class: "dim fine num", text: this.#size(part) }),
    ];
  }

  #class(part) {
    const { view } = this;
    const { current } = view.playback;
    // Its class is found when the cache is asked.
    if (current.result === "undecided" && !current.phases.includes("predicates")) return null;
    const pod = podLink(view, view.playback.pods.keys[view.playback.current.pod]);
    if (part.class) {
      return [
        pod,
        part.mode === "batching" ? " has the signature " : " is of class ",
        inline(
          () => view.setSub(`classes/${part.class.hash}`),
          { title: `class ${part.class.hash}: its members` },
          part.class.name || part.class.hash,
        ),
        h("span", { class: "dim", text: part.class.members ? ` of ${plural(part.class.members, "pod")}. ` : ". " }),
        part.bypass ? h("span", { class: "dim", text: `${part.bypass}. ` }) : null,
      ];
    }
    if (part.mode === "batching") return [pod, ". "];
    return [pod, h("strong", { text: " has no class" }), part.bypass ? `: ${part.bypass}. ` : ". "];
  }

  #size(part) {
    const evicted =
      part.evictedClasses || part.evictedEntries
        ? `; evicted ${count(part.evictedEntries ?? 0)} of ${plural(part.evictedClasses ?? 0, "class", "classes")}`
        : "";
    const entries = plural(part.entries ?? 0, "valid entry", "valid entries");
    const classes = plural(part.classes ?? 0, "class", "classes");
    return `${entries} · ${held(part.bytes ?? 0)} · ${classes} after this cycle${evicted}`;
  }

  #numbers(part) {
    const batching = part.mode === "batching";
    /** @type {[mark: string, label: string, title: string, text: (counts: any) => string][]} */
    const offered = [
      [
        "hit",
        "hits",
        batching ? "Evaluations that the kept ranking saved" : "Answers taken from the cache",
        (c) => count(c.hits),
      ],
      ["miss", "evaluated", "Pairs of predicate and node that were evaluated", (c) => count(c.evaluations)],
      ["", "hit rate", "Hits of all answers", (c) => percent(rate(c.hits, c.evaluations))],
      batching ? null : ["cleared", "invalidated", "Entries that events cleared", (c) => count(c.invalidated)],
      batching
        ? null
        : [
            "stale",
            "stale",
            part.audit ? "Hits whose answer was stale" : "The audit is off",
            (c) => (part.audit ? count(c.stale) : "–"),
          ],
    ];
    const columns = offered.filter(Boolean);
    const row = (label, counts) =>
      h(
        "tr",
        null,
        h("th", { scope: "row" }, label),
        columns.map(([mark, , , text]) => {
          const bad = mark === "stale" && counts.stale > 0;
          return h("td", { class: `num${bad ? " stale-text" : ""}` }, bad ? icon("warn") : null, figure(text(counts)));
        }),
      );
    return h(
      "table",
      { class: "cache-numbers" },
      h("caption", { class: "sr", text: "The cache in numbers" }),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("td"),
          columns.map(([mark, label, title]) => h("th", { scope: "col", title }, mark ? swatch(mark) : null, label)),
        ),
      ),
      h(
        "tbody",
        null,
        row([h("span", { class: "more", text: "this " }), "cycle"], part.counts),
        row(["run", h("span", { class: "more", text: " so far" })], part.totals),
      ),
    );
  }
}
