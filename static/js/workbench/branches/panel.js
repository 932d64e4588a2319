// Branches: copies made at a step, as a tree, with what was changed and what each led to; to switch, rename, compare
// and delete.

import { $$, targetOf, h, fill, icon, announce, toast } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
import { showBeside } from "./beside.js";
import { deleteDialog, renameDialog } from "./dialogs.js";
import { madeAt, parting, standing } from "./words.js";
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

const COMPARED = 8; // by themselves; the others at a press
const LIGHT = 200_000; // nodes × cycles that may be computed for that
const SETTLE = 1200; // milliseconds after the last change of the draft
const WORDS = 3;

export class Branches {
  #listed = null;
  #turn = 0;
  #found = new Map(); // "draft revision" to its outcome
  #timer = 0;

  /**
   * @param {View} view
   * @param {Edit | null} edit
   * @param {boolean} mine
   */
  constructor(view, edit, mine) {
    this.view = view;
    this.edit = edit;
    this.mine = mine;
    this.own = view.playback.source.draft ?? "";
    this.head = h("div", { class: "history-head" });
    this.rows = h("div", { class: "branch-rows", role: "treegrid", "aria-label": "Branches" });
    this.none = h("p", { class: "dim fine" });
    this.element = h(
      "section",
      { class: "history branches", "aria-labelledby": "branches-heading", hidden: !edit || undefined },
      this.head,
      this.rows,
      this.none,
    );
    if (!edit) return;
    this.rows.addEventListener("keydown", (event) => this.#key(event));
    view.playback.on("opened", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.load(), this.#listed ? SETTLE : 0);
    });
    view.on("branch", () => this.create());
    view.on("branched", () => this.load());
    this.#deck();
  }

  /** "Branch here" stands in the deck too. */
  #deck() {
    const place = () => {
      document.querySelector("[data-deck]")?.append(
        h(
          "button",
          {
            type: "button",
            class: "btn quiet small deck-branch",
            title: "A copy at the step on screen, to try something else",
            onclick: () => this.create(),
          },
          icon("fork"),
          "Branch here",
        ),
      );
    };
    if (document.querySelector("[data-deck] .transport")) place();
    else setTimeout(place); // the deck fills its place when it is made
  }

  async load() {
    const { playback } = this.view;
    const turn = ++this.#turn;
    try {
      const listed = await playback.socket.call("branch.list", { source: playback.source });
      if (turn !== this.#turn) return;
      this.#listed = listed;
      this.#draw();
      await this.#compareSome(turn);
    } catch (error) {
      if (turn === this.#turn && error.code !== "request.superseded") this.none.textContent = error.message;
    }
  }

  // ---- the tree

  #draw() {
    const { root, branches } = this.#listed;
    const focused = this.rows.contains(document.activeElement)
      ? document.activeElement.closest("[data-branch-row]")?.dataset.branchRow
      : "";
    const alone = branches.length - (root ? 0 : 1) <= 0;
    fill(
      this.head,
      h(
        "h3",
        { id: "branches-heading" },
        "Branches ",
        h("small", { class: "dim", text: alone ? "" : count(branches.length - (root ? 0 : 1)) }),
      ),
      h("span", { class: "grow" }),
      h(
        "button",
        {
          type: "button",
          class: "btn small",
          title: "A copy at the step on screen, to try something else",
          onclick: () => this.create(),
        },
        icon("fork"),
        "Branch here",
      ),
    );
    this.none.textContent = alone
      ? "No branches yet. Go to a step and branch there: the copy records its origin and is compared with this."
      : "";
    const rows = [];
    const under = (parent, level) => {
      for (const branch of branches.filter((one) => one.parent === parent)) {
        rows.push(this.#row(branch, level, !rows.length));
        under(`draft:${branch.draft}`, level + 1);
      }
    };
    if (root && !alone) rows.push(this.#root(root));
    if (root) under(root.source, 2);
    if (!alone || root) under("", 1);
    this.rows.hidden = alone;
    fill(this.rows, alone ? [] : rows);
    if (focused)
      this.#focus(
        this.rows.querySelector(
          `[data-branch-row="${CSS.escape(focused)}"] a, [data-branch-row="${CSS.escape(focused)}"] button`,
        ),
      );
  }

  #root({ source, title, url }) {
    const here =
      source === `scenario:${this.view.playback.source.scenario}` || source === `run:${this.view.playback.source.run}`;
    const what = source.startsWith("run:") ? "run" : "shared";
    return h(
      "div",
      { role: "row", "aria-level": "1", class: "branch", "data-branch-row": "root" },
      h(
        "div",
        { role: "gridcell", class: "branch-name" },
        here ? h("b", { tabindex: "0", text: title || "Untitled" }) : this.#link(url, title || "Untitled", true),
        h("span", { class: "pill", text: what }),
        here ? h("span", { class: "pill accent", text: "here" }) : null,
      ),
    );
  }

  /**
   * @param {string} url
   * @param {string} text
   * @param {boolean} [first]
   */
  #link(url, text, first = false) {
    return h("a", {
      href: url,
      text,
      tabindex: first ? "0" : "-1",
      onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.#go(url);
      },
    });
  }

  #row(branch, level, first) {
    const { draft, title, step, words, revision, parent } = branch;
    const here = draft === this.own;
    const name = title || "Untitled";
    const button = (icon_, label, act) =>
      h(
        "button",
        {
          type: "button",
          class: "btn quiet square tiny",
          tabindex: "-1",
          "aria-label": `${label}: ${name}`,
          title: label,
          onclick: act,
        },
        icon(icon_),
      );
    const found = this.#found.get(`${draft} ${revision}`);
    const changed = words.length
      ? words.slice(0, WORDS).join("; ") + (words.length > WORDS ? `; and ${count(words.length - WORDS)} more` : "")
      : parent
        ? "nothing changed yet"
        : "";
    const changes = h(
      "div",
      { role: "gridcell", class: "branch-changes" },
      changed ? h("p", { class: words.length ? "" : "dim", text: changed }) : null,
      this.#outcome(found, here),
    );
    return h(
      "div",
      {
        role: "row",
        "aria-level": String(level),
        class: `branch level-${Math.min(level, 6)} ${here ? "here" : ""}`,
        "data-branch-row": draft,
        "aria-current": here ? "true" : undefined,
      },
      h(
        "div",
        { role: "gridcell", class: "branch-name" },
        here ? h("b", { text: name, tabindex: first ? "0" : "-1" }) : this.#link(`/p/${draft}/`, name, first),
        step ? h("span", { class: "pill", text: madeAt(step) }) : null,
        here ? h("span", { class: "pill accent", text: "here" }) : null,
      ),
      h(
        "div",
        { role: "gridcell", class: "history-tools branch-tools" },
        button("edit", "Rename", () => this.#rename(branch)),
        parent ? button("table", "Compare with its parent", () => this.#compare(branch, true)) : null,
        button("cross", "Delete", () => this.#delete(branch)),
      ),
      changes,
    );
  }

  #outcome(found, here) {
    if (!found) return null;
    if (found.error) return h("p", { class: "dim", text: found.error });
    const { first } = found;
    const cycle =
      first && here && first.step
        ? h(
            "button",
            {
              type: "button",
              class: "btn quiet small",
              tabindex: "-1",
              onclick: () => this.view.playback.goto(first.index),
            },
            `To cycle ${count(first.index)}`,
            icon("right"),
          )
        : null;
    return [
      h("p", { class: "branch-outcome", text: standing(found) }),
      found.parent || found.why ? h("p", { class: "dim", text: parting(found) }) : null,
      cycle,
    ];
  }

  // ---- their outcomes

  /** @param {number} turn */
  async #compareSome(turn) {
    const { playback } = this.view;
    if (!playback.complete || playback.cycles * (playback.nodes?.names.length ?? 0) > LIGHT) return;
    const asked = this.#listed.branches
      .filter(({ parent }) => parent)
      .sort((a, b) => Number(b.draft === this.own) - Number(a.draft === this.own))
      .slice(0, COMPARED);
    for (const branch of asked) {
      if (turn !== this.#turn) return;
      if (!this.#found.has(`${branch.draft} ${branch.revision}`)) await this.#compare(branch);
    }
  }

  async #compare(branch, pressed = false) {
    const { playback } = this.view;
    const turn = this.#turn;
    let found;
    try {
      found = await playback.socket.call("branch.compare", { draft: branch.draft });
      branch.words = found.parent ? found.words : branch.words;
    } catch (error) {
      if (error.code === "request.superseded") return;
      found = { error: error.code === "bundle.invalid" ? "It has errors, so it cannot be simulated." : error.message };
    }
    this.#found.set(`${branch.draft} ${branch.revision}`, found);
    if (turn !== this.#turn) return;
    this.#draw();
    if (pressed) showBeside(branch, found);
  }

  // ---- acting

  /** The step on screen as an address keeps it. */
  get #step() {
    const { playback } = this.view;
    return playback.end && playback.wanted > playback.cycles ? "end" : String(playback.wanted);
  }

  /**
   * Go to another of them at the same step, with the same tab and selection.
   *
   * @param {string} url
   */
  #go(url) {
    const query = new URLSearchParams(location.search);
    query.set("step", this.#step);
    for (const name of ["edit", "create"]) query.delete(name);
    location.assign(`${url}?${query}`);
  }

  async create() {
    const { playback } = this.view;
    if (!this.edit) {
      toast("This cannot be copied.", { name: "warn" });
      return;
    }
    if (this.mine && this.edit.options.dirty()) {
      toast("The YAML has changes that are not applied. Apply or discard them first.", { name: "warn", ms: 6000 });
      this.edit.options.onText();
      return;
    }
    try {
      const { url } = await playback.socket.call("branch.create", { source: playback.source, step: this.#step });
      this.#go(url);
    } catch (error) {
      toast(`It could not be branched: ${error.message}`, { name: "warn", ms: 6000 });
    }
  }

  /** The revision of a branch that is known here; of one's own draft the page knows later ones than the list. */
  #seen({ draft, revision }) {
    return draft === this.own ? Math.max(revision, this.view.draft.revision, this.view.draft.titled) : revision;
  }

  #rename(branch) {
    renameDialog(branch, async (title) => {
      const { revision } = await this.view.playback.socket.call("draft.save", {
        draft: branch.draft,
        title,
        base: this.#seen(branch),
      });
      const found = this.#found.get(`${branch.draft} ${branch.revision}`);
      if (found) this.#found.set(`${branch.draft} ${revision}`, found);
      Object.assign(branch, { title: title.trim(), revision });
      this.#draw();
      const field = branch.draft === this.own && document.querySelector("input[data-title]");
      if (field) {
        field.value = branch.title;
        document.title = `${branch.title || "Untitled"} · podstep`;
      }
    });
  }

  #delete(branch) {
    const own = branch.draft === this.own;
    const drop = async (close) => {
      await this.view.playback.socket.call("draft.delete", { draft: branch.draft, base: this.#seen(branch) });
      if (own) {
        this.#leave(branch);
        return;
      }
      close();
      announce(`Deleted: ${branch.title || "Untitled"}.`);
      await this.load();
      this.#focus(this.rows.querySelector("a, b") ?? this.head.querySelector("button"));
    };
    const children = this.#listed.branches.filter(({ parent }) => parent === `draft:${branch.draft}`).length;
    deleteDialog(branch, { children, own, drop });
  }

  #leave({ parent }) {
    const [kind, id] = parent.split(":");
    if (!id) {
      location.assign("/");
      return;
    }
    if (kind === "run") {
      location.assign(`/runs/${id}/`);
      return;
    }
    this.#go(`/${kind === "draft" ? "p" : "s"}/${id}/`);
  }

  // ---- the keyboard

  /** @param {HTMLElement | null | undefined} target */
  #focus(target) {
    if (!target) return;
    for (const other of $$("[tabindex]", this.rows)) other.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = targetOf(event).closest("[data-branch-row]");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...this.rows.querySelectorAll("[data-branch-row]")];
    const at = rows.indexOf(row);
    const within = [...row.querySelectorAll("[tabindex]")];
    const here = within.findIndex((one) => one === event.target);
    const first = (other) => other?.querySelector("[tabindex]");
    const branch = this.#listed.branches.find(({ draft }) => draft === row.dataset.branchRow);
    const act = {
      ArrowDown: () => this.#focus(first(rows[at + 1])),
      ArrowUp: () => this.#focus(first(rows[at - 1])),
      ArrowRight: () => this.#focus(within[here + 1]),
      ArrowLeft: () => this.#focus(within[here - 1]),
      Home: () => this.#focus(first(rows[0])),
      End: () => this.#focus(first(rows.at(-1))),
      Delete: branch && (() => this.#delete(branch)),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}
