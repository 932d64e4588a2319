// PodGroups: all of them, the phase of one, its members and timers, each plugin's answer with its numbers, and what
// happened around the cycle.

import { $, h, fill, focusedNow, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { clock, count, short } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { Countdown, moment, until } from "../countdown.js";
import { before } from "./empty.js";
import { Gang } from "./gang.js";
import { sentence } from "./sentence.js";
/** @import { View } from "../view.js" */

export class PodGroups {
  #asked = ""; // the group and cycle that the server was asked for
  #answer = null;
  #kept; // what is sorted and looked for

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("podgroups");
    this.gang = new Gang(view);
    this.element = h("div", { class: "podgroups-tab" });
    this.countdown = new Countdown(view, this.element);
    // Since when a group has been in its phase may only be known now.
    view.playback.on(
      "grew",
      () => {
        if (this.element.isConnected) this.update();
      },
      view.panels,
    );
    view.on(
      "sub",
      () => {
        if (this.element.isConnected) this.update();
      },
      view.panels,
    );
  }

  update() {
    const { view } = this;
    const { playback } = view;
    const part = playback.parts?.podgroups;
    if (!part && !playback.current) {
      fill(this.element, before(view));
      return;
    }
    this.element.classList.toggle("waiting", !part);
    if (!part) return;
    const focused = this.element.contains(document.activeElement) ? focusedNow().dataset.group : "";
    if (!("groups" in part)) fill(this.element, this.#empty(part.why), this.#around(part));
    else
      fill(
        this.element,
        part.note ? h("p", { class: "note" }, icon("warn"), h("span", { text: String(part.note) })) : null,
        this.#list(part),
        this.#chosen(part),
        this.#around(part),
      );
    this.countdown.stand(part.time);
    if (focused) $(`[data-group="${CSS.escape(focused)}"]`, this.element)?.focus();
  }

  #empty(why) {
    return h(
      "div",
      { class: "empty" },
      h("b", { text: "No PodGroup is scheduled here." }),
      h("span", { text: why }),
      h("span", {
        text:
          "A PodGroup is a set of pods that must be scheduled together: with the plugin Coscheduling each of them "
          + "reserves its node and waits at Permit until minMember of them have one; then all are bound, or the "
          + "reservations are released.",
      }),
      h(
        "span",
        null,
        "To see it, open ",
        h("a", { href: "/#examples" }, "the example of a gang of six with room for four"),
        ".",
      ),
    );
  }

  /** The group that is shown: the address's, else that of the pod in flight, else the first. */
  #key(part) {
    return this.view.sub || part.group?.key || part.groups[0]?.[0] || "";
  }

  #list(part) {
    const { view } = this;
    const shown = this.#key(part);
    const flying = part.group?.key;
    const head = (text, more = {}) => h("th", { scope: "col", text, ...more });
    const rows = part.groups.map(([key, phase, minMember, members, assigned, waiting, denied, backedOff]) =>
      h(
        "tr",
        { class: key === shown ? "now" : undefined },
        h(
          "td",
          null,
          inline(
            () => view.setSub(key === flying ? "" : key),
            { "data-group": key, "aria-current": key === shown ? "true" : undefined, title: `PodGroup ${key}` },
            short(key),
          ),
          key === flying ? [" ", h("span", { class: "pill accent", text: "in flight" })] : null,
        ),
        h("td", null, phase || "none yet"),
        h("td", { class: "num" }, count(members)),
        h(
          "td",
          { class: `num ${assigned >= minMember ? "pass-text" : ""}`.trim(), "data-value": assigned },
          `${count(assigned)} / ${count(minMember)}`,
        ),
        h("td", { class: "num" }, waiting ? h("span", { class: "wait-text" }, count(waiting)) : "0"),
        h("td", { class: "num", "data-value": denied ?? backedOff ?? "" }, refused(denied ?? backedOff, part.time)),
      ),
    );
    const title = h(
      "h3",
      null,
      "PodGroups ",
      h("small", { class: "dim num", text: count(part.count) }),
      h(
        "small",
        { class: "dim end" },
        h("a", { href: `/reference/podgroups/#${part.edition}`, text: `${part.edition} edition` }),
        " · ",
        h("span", {
          class: "num",
          "data-now": true,
          title: this.view.playback.reached.whole
            ? "the state after this cycle and its consequences; the time below the stage is its start"
            : this.view.playback.reached.tried
              ? "the state at the start of this cycle’s attempt"
              : "the state after the previous cycle",
          text: moment(part.time),
        }),
      ),
    );
    return h(
      "section",
      { class: "gangs" },
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", {
            class: "sr",
            text: this.view.playback.reached.whole
              ? "PodGroups after this cycle"
              : "PodGroups before this cycle’s attempt",
          }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              head("group"),
              head("phase"),
              head("members", { class: "num", title: "Pods that name it" }),
              head("on a node", {
                class: "num",
                title: "Members that hold a node, bound or waiting at Permit, and how many it needs (minMember)",
              }),
              head("waiting", { class: "num", title: "at Permit" }),
              head(part.edition === "classic" ? "denied" : "backed off", {
                class: "num",
                title: "how much longer PreFilter rejects its pods",
              }),
            ),
          ),
          h("tbody", null, rows),
        ),
        { head: title, filter: "Filter PodGroups", kept: this.#kept, name: "groups" },
      ),
      part.count > part.groups.length
        ? h("p", { class: "dim fine", text: `and ${count(part.count - part.groups.length)} more` })
        : null,
    );
  }

  #chosen(part) {
    const key = this.#key(part);
    if (!key) return null;
    if (part.group?.key === key) return this.gang.draw(part, part.group);
    const wanted = `${this.view.playback.asOf} ${key}`;
    if (this.#asked !== wanted) this.#fetch(wanted, key);
    if (this.#answer?.key === key)
      return h(
        "div",
        { class: this.#answer.index === this.view.playback.asOf ? undefined : "waiting" },
        this.gang.draw(part, this.#answer),
      );
    return h("p", { class: "dim", text: this.#answer?.error ?? "…" });
  }

  async #fetch(wanted, key) {
    const { playback } = this.view;
    this.#asked = wanted;
    try {
      const answer = await playback.socket.call("podgroup.get", {
        source: playback.source,
        cycle: playback.asOf,
        group: key,
      });
      if (this.#asked === wanted) this.#answer = answer;
    } catch (error) {
      if (this.#asked !== wanted || error.code === "request.superseded") return;
      this.#answer = { error: error.message };
    }
    if (this.element.isConnected) this.update();
  }

  #around(part) {
    if (!part.happenings) return null;
    const list = (title, rows) =>
      rows.length
        ? h(
            "section",
            { class: "happened" },
            h("h3", { text: title }),
            h(
              "ol",
              null,
              rows.map(([time, parts], i) =>
                h(
                  "li",
                  null,
                  h("span", { class: "num dim", text: i && clock(time) === clock(rows[i - 1][0]) ? "" : clock(time) }),
                  sentence(this.view, parts),
                ),
              ),
            ),
          )
        : null;
    return [
      list("Since the cycle before", part.happenings),
      list("Consequences of this cycle", part.consequences ?? []),
    ];
  }
}

/** How much longer PreFilter turns a group's pods away, in a cell. */
const refused = (end, now) => (end === null ? h("span", { class: "dim", text: "–" }) : until(end, now, "fail-text"));
