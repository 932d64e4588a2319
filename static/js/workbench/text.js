// The YAML of a draft: typed, checked as it is typed, kept until it is applied, and merged with what other tabs save.

import { $, h, fill, icon, toast, debounce, announce } from "../lib/dom.js";
import { Editor, errorList, problemList } from "../lib/editor.js";
import { Kept } from "../lib/kept.js";
import { merge, resolved } from "../lib/merge.js";
import { Progress } from "../kit/progress.tsx";
import { bytes } from "../lib/progress.js";
import { count, plural } from "../lib/quantity.js";
import { superseded } from "../lib/socket.js";
import { conflict } from "./conflict.tsx";
import { OVERTAKEN } from "./draft.js";
import { LONG, receive, stoppable } from "./longtext.js";
import { replaced, splice } from "./undo.js";
/** @import { View } from "./view.js" */

const WARNINGS_OPEN = 5; // that are listed without being asked for
const CHECK_AFTER = 700;
const KEEP_AFTER = 250;
const LATE = 300;
const KEPT_MOST = 2_000_000; // characters that outlive a reload

export class DraftText {
  #based; // the text that the editor's was typed over; while nothing is typed both are the same
  #applying = false;
  #stopped = false; // what was to be applied was given up
  #left = false; // what is typed is somewhere else now
  #unkept = false; // what is typed is only here: there was no room to keep it

  /**
   * `options`: `{mine, canFork, onFork(), draft: Draft, strip, change(make, how), bundle}`; without a `bundle` there is
   * no text to load.
   *
   * @param {View} view
   */
  constructor(view, options) {
    this.view = view;
    this.options = options;
    const { mine, draft } = options;
    /** @type {Kept<{ text: string, over?: [at: number, put: string, old: string] }> | null} */
    this.kept = mine ? new Kept(`podstep.draft.${draft.id}`) : null;
    this.check = debounce(() => this.#check(), CHECK_AFTER);
    this.keepSoon = debounce(() => this.#settleTyping(), KEEP_AFTER);
    addEventListener("pagehide", () => this.#settleTyping());
    addEventListener("beforeunload", (event) => {
      this.#settleTyping();
      if (this.#unkept) event.preventDefault();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#settleTyping();
    });
    draft.on("leaving", () => this.forget());
    this.element = this.#build();
    this.left = mine
      ? this.kept.adopt().then((kept) => {
          this.#setBadge(kept !== null);
          return kept;
        })
      : null;
  }

  /** Whether something is typed and not applied. */
  get dirty() {
    return !this.apply.disabled;
  }

  #build() {
    const { mine, canFork, onFork } = this.options;
    // Nobody edits a text that is not there: it is unlocked once all of it is.
    this.editor = new Editor({
      label: mine ? "YAML of this draft" : "YAML of this scenario, read-only",
      readOnly: true,
      onInput: () => this.#typed(),
    });
    this.problems = h("div", { class: "yaml-problems", role: "status" });
    this.elsewhere = h("div", { class: "note yaml-elsewhere", role: "status", hidden: true });
    this.apply = h(
      "button",
      { type: "button", class: "btn primary", "data-apply": true, disabled: true, onclick: () => this.applyTyped() },
      icon("check"),
      "Apply",
    );
    this.revert = h("button", {
      type: "button",
      class: "btn quiet",
      hidden: true,
      onclick: () => this.#revert(),
      text: "Discard changes",
    });
    const bar = mine
      ? h(
          "div",
          { class: "yaml-bar" },
          this.apply,
          this.revert,
          h("span", { class: "grow" }),
          h("kbd", { text: "Ctrl Enter" }),
        )
      : h(
          "div",
          { class: "yaml-bar" },
          h("span", {
            class: "dim",
            text: canFork ? "Shared scenarios never change. Fork it to edit." : "This scenario is read-only.",
          }),
          h("span", { class: "grow" }),
          canFork ? h("button", { type: "button", class: "btn", onclick: onFork }, icon("fork"), "Fork") : null,
        );
    this.editor.element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && mine) {
        event.preventDefault();
        this.applyTyped();
      }
    });
    return h("div", { class: "yaml" }, bar, this.elsewhere, this.editor.element, this.problems);
  }

  /** Load the text once; who asks meanwhile waits for the same answer. */
  async load() {
    if (this.#based === undefined)
      await (this.loading ??= this.#load().finally(() => {
        this.loading = null;
      }));
  }

  async #load() {
    const { draft, mine, bundle } = this.options;
    if (!bundle()) {
      fill(
        this.problems,
        h("p", {
          class: "dim fine",
          text: "The scenario of this run has no public text. Fork it to get one of your own.",
        }),
      );
      return;
    }
    const bar = new Progress("Loading the text");
    const late = setTimeout(() => fill(this.problems, bar.element), LATE);
    let parts = false; // whether it was put into the editor as it came
    try {
      const kept = mine ? await this.left : null;
      const text = await draft.load((answer) => {
        parts = true;
        return receive(answer, this.editor, bar, { place: this.problems });
      });
      const typed = typeof kept?.text === "string" ? kept.text : null;
      const [at, old, put] = Array.isArray(kept?.over) ? kept.over : [0, "", ""];
      this.#based = text;
      if (parts && typed === null) this.editor.came(text);
      else this.editor.value = typed ?? text;
      this.editor.readOnly = !mine;
      if (this.view.playback.warnings.length) this.#show([], this.view.playback.warnings);
      if (typed === null || typed === text) {
        if (mine) this.#edited(text);
        return;
      }
      // It may have been typed over another revision.
      this.#based = (kept.over && replaced(typed, at, put, old)) ?? text;
      this.#edited(typed);
      this.#showElsewhere();
      toast("Unapplied changes were restored in the editor.");
    } catch (error) {
      if (this.#based === undefined) this.editor.value = ""; // a part of the text is not the text
      const again = h("button", { type: "button", class: "btn small", onclick: () => this.#again() }, "Try again");
      fill(this.problems, h("p", { class: "note error" }, `The YAML could not be loaded: ${error.message}.`), again);
    } finally {
      clearTimeout(late);
      bar.element.remove();
    }
  }

  async #again() {
    fill(this.problems);
    await this.load();
    if (this.#based === undefined) $("button", this.problems)?.focus();
    else this.editor.focus();
  }

  /**
   * The draft's text is another now: it is shown, unless something is typed, which stays as it is.
   *
   * @param {string} text
   */
  take(text) {
    if (this.#based === undefined) return;
    if (this.typing) this.#settleTyping();
    if (this.dirty || this.#applying) {
      this.#showElsewhere();
      return;
    }
    this.#put(text);
  }

  /** @param {string} text */
  #put(text) {
    this.#based = text;
    this.editor.value = text;
    this.#edited(text);
    this.#show([], []);
  }

  // ---- typing

  /** Something was typed: it can be applied at once; a long text is compared and kept when the keys rest. */
  #typed() {
    if (this.#based === undefined) return;
    this.typing = true;
    this.apply.disabled = false;
    this.revert.hidden = false;
    this.keepSoon();
  }

  #settleTyping() {
    if (!this.typing) return;
    this.#edited(this.editor.value);
    if (this.apply.disabled) {
      this.check.cancel();
      this.#show([], []);
    } // it is what was applied: nothing is wrong with that
  }

  /** @param {string} text */
  #edited(text) {
    this.typing = false;
    if (this.#based === undefined) return;
    const { draft } = this.options;
    if (text === draft.text) this.#based = text;
    const changed = text !== this.#based;
    this.#setBadge(changed);
    this.#keep(changed ? text : null);
    this.apply.disabled = !changed;
    this.revert.hidden = !changed;
    if (changed && text.length > LONG) {
      this.check.cancel();
      fill(
        this.problems,
        h("p", { class: "dim fine", text: `${bytes(text.length)}: it is checked when you apply it.` }),
      );
    } else if (changed) this.check();
    // It was taken back, and another tab has changed it.
    else if (this.#based !== draft.text && draft.text !== undefined) this.#put(draft.text);
    this.#showElsewhere();
  }

  /** @param {string} text */
  #keep(text) {
    if (!this.kept || this.#left) return;
    if (text === null) this.kept.set(null);
    this.#unkept =
      text !== null && !(text.length < KEPT_MOST && this.kept.set({ text, over: splice(this.#based, text) }));
  }

  /** Keep nothing any more: what was typed is somewhere else. */
  forget() {
    this.typing = false;
    this.#left = true;
    this.keepSoon.cancel();
    this.kept?.set(null);
    this.#unkept = false;
  }

  /**
   * Update the badge of the YAML tab: that something is not applied, also after a reload, else the number of warnings.
   */
  updateBadge() {
    this.#setBadge(this.#based === undefined ? Boolean(this.kept?.get()) : this.dirty);
  }

  #setBadge(changed) {
    const { strip } = this.options;
    const { warnings } = this.view.playback;
    const { length } = warnings ?? [];
    strip.show("yaml", {
      badge: [changed ? "edited" : length ? count(length) : "", "fail-text"],
      hint: changed ? "Changes that are not applied" : length ? `${plural(length, "warning")} about the input` : "",
    });
  }

  /** While something is typed, show that another tab has saved a change. */
  #showElsewhere() {
    const { draft } = this.options;
    const stale = this.dirty && !this.#applying && draft.text !== undefined && this.#based !== draft.text;
    if (stale === !this.elsewhere.hidden) return;
    this.elsewhere.hidden = !stale;
    fill(
      this.elsewhere,
      stale
        ? [
            icon("warn"),
            h(
              "div",
              null,
              h("p", {
                text: "Another tab has changed this draft meanwhile. What you typed stays; Apply merges both.",
              }),
              h("button", { type: "button", class: "btn small", onclick: () => this.#mergeNow() }, "Merge now"),
            ),
          ]
        : null,
    );
  }

  /** Bring another tab's change into what is typed; nothing is applied. */
  async #mergeNow() {
    this.#settleTyping();
    const theirs = this.options.draft.text;
    const typed = this.editor.value;
    const { parts, conflicts } = merge(this.#based, typed, theirs);
    const choice = conflicts.length ? await conflict({ parts }) : "theirs";
    if (choice === "branch") {
      await this.options.draft.branch(typed);
      return;
    }
    if (!choice || this.editor.value !== typed) return;
    this.#based = theirs;
    this.editor.retype(resolved(parts, choice));
    this.#edited(this.editor.value);
    this.editor.focus();
    announce("Merged. Both changes are in the editor; Apply saves them.");
  }

  #revert() {
    const { draft } = this.options;
    this.#based = draft.text;
    this.editor.retype(draft.text);
    this.#edited(draft.text);
    this.#show([], []);
  }

  // ---- checking and applying

  async #check() {
    const text = this.editor.value;
    try {
      const { errors, warnings } = await this.view.playback.socket.call("bundle.check", { text });
      if (text === this.editor.value) this.#show(errors, warnings);
    } catch (error) {
      if (error.body?.errors) this.#show(error.body.errors, error.body.warnings ?? []);
    }
  }

  #show(errors, found) {
    const warnings = placed(found, this.editor.value);
    this.editor.mark(errors, warnings);
    fill(
      this.problems,
      errorList(errors, this.editor),
      warnings.length
        ? h(
            "details",
            { open: warnings.length <= WARNINGS_OPEN },
            h("summary", { text: plural(warnings.length, "warning") }),
            problemList(warnings, this.editor, "warning"),
          )
        : null,
    );
  }

  /** Save what is in the editor as the draft, then simulate it again. True when it was accepted. */
  async applyTyped() {
    if (!this.options.mine || this.apply.disabled || this.#based === undefined) return true;
    const text = this.editor.value;
    this.apply.disabled = true;
    this.#applying = true;
    const { bar, options } = stoppable("Checking the text", {
      after: this.element.firstElementChild,
      onCancel: () => this.editor.focus(),
    });
    try {
      const { errors, warnings } = await this.view.playback.socket.call("bundle.check", { text }, options);
      bar.element.remove();
      this.#show(errors, warnings);
      if (errors.length) {
        announce(`${plural(errors.length, "error")}. Nothing was applied.`);
        if (errors[0].line) this.editor.jump(errors[0].line);
        return false;
      }
      const { merged } = await this.options.change(() => ({ text }), {
        based: this.#based,
        whole: true,
        words: "changes of the YAML",
        saved: (answer) => this.#saved(text, answer),
      });
      if (!merged) toast("Applied: the simulation restarts.");
      return true;
    } catch (error) {
      const errors = error.body?.errors;
      this.#stopped = superseded(error);
      if (errors) this.#show(errors, error.body.warnings ?? []);
      else if (!this.#stopped)
        fill(this.problems, h("p", { class: error.code === OVERTAKEN ? "note" : "note error", text: error.message }));
      return false;
    } finally {
      bar.element.remove();
      this.#applying = false;
      this.#edited(this.editor.value);
      if (this.#stopped)
        fill(
          this.problems,
          h("p", { class: "dim fine", text: "Stopped: nothing was applied, and the text is as you left it." }),
        );
      this.#stopped = false;
    }
  }

  /** What was typed is saved, perhaps with another tab's change in it; what was typed since stays. */
  #saved(text, answer) {
    const typed = this.editor.value;
    this.#based = answer.text;
    if (typed === text) {
      if (answer.text !== text) this.editor.value = answer.text;
      return;
    }
    if (answer.text === text) return;
    const { parts, conflicts } = merge(text, typed, answer.text);
    if (conflicts.length)
      this.#based = text; // asked about when it is applied
    else this.editor.value = resolved(parts);
  }

  /** Apply pending changes, as sharing wants. */
  async settle() {
    return this.dirty ? this.applyTyped() : true;
  }
}

/** Warnings about a whole document lead to its first line. */
function placed(warnings, text) {
  if (warnings.every(({ line, document }) => line || !document)) return warnings;
  const firsts = [];
  let open = false;
  text.split("\n").forEach((row, i) => {
    if (/^---(\s|$)/.test(row)) open = false;
    else if (!open && row.trim() && !/^\s*#/.test(row)) {
      open = true;
      firsts.push(i + 1);
    }
  });
  return warnings.map((warning) => (warning.line ? warning : { ...warning, line: firsts[warning.document - 1] }));
}
