// The YAML of a draft: typed, checked as it is typed, kept until it is applied, and merged with what other tabs save.

import { render, type ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { focused } from "../../kit/focus.ts";
import { Hosted } from "../../kit/hosted.tsx";
import { Icon } from "../../kit/icon.tsx";
import { ProblemList, Problems } from "../../kit/problems.tsx";
import { ProgressBar, type Far } from "../../kit/progress.tsx";
import { signal } from "../../kit/signals.ts";
import type { tabsIn } from "../../kit/tabs.tsx";
import { announce, debounce, toast } from "../../lib/dom.ts";
import { Editor } from "../../editor/editor.ts";
import { Kept } from "../../lib/kept.ts";
import { merge, resolved } from "../../lib/merge.ts";
import { bytes, progressOf } from "../../lib/progress.ts";
import type { Problem, Report } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import type { Change } from "../draft/change.ts";
import { conflict } from "../draft/conflict.tsx";
import { isHarmless } from "../dump/differ.tsx";
import { OVERTAKEN, type Draft, type Edited } from "../draft/draft.ts";
import { LONG, receive } from "../view/longtext.ts";
import { replaced, splice } from "../edit/undo.ts";
import type { View } from "../view/view.ts";

const WARNINGS_OPEN = 5; // that are listed without being asked for
const CHECK_AFTER = 700;
const KEEP_AFTER = 250;
const LATE = 300;
const LOADING = "Loading the text";
const CHECKING = "Checking the text";
const KEPT_MOST = 2_000_000; // characters that outlive a reload

const STALE = "Another tab has changed this draft meanwhile. What you typed stays; Apply merges both.";

type Typed = { text: string; over?: [at: number, put: string, old: string] };

type Options = {
  mine: boolean;
  canFork: boolean;
  onFork: () => void;
  draft: Draft;
  strip: ReturnType<typeof tabsIn>;
  change: Change;
  /** Where the text is; without one there is none to load. */
  bundle: () => string;
};

export class DraftText {
  readonly element = document.createElement("div");
  readonly editor: Editor;
  readonly #kept: Kept<Typed> | null;
  readonly #left: Promise<Typed | null> | null; // what was typed before this page was opened
  readonly #check = debounce(() => void this.#checkTyped(), CHECK_AFTER);
  readonly #keepSoon = debounce(() => this.#settleTyping(), KEEP_AFTER);
  readonly #said = signal<ComponentChild>(null); // what is wrong with it, or why it is not there
  readonly #loading = signal<Far | null>(null);
  readonly #checking = signal<{ far: Far; cancel: () => void } | null>(null);
  readonly #changed = signal(false);
  readonly #dirty = signal(false); // and not being applied
  readonly #stale = signal(false); // another tab has saved while something is typed
  #based: string | undefined; // the text that the editor's was typed over; while nothing is typed both are the same
  #load: Promise<void> | null = null;
  #typing = false;
  #applying = false;
  #gone = false; // what is typed is somewhere else now
  #unkept = false; // what is typed is only here: there was no room to keep it

  constructor(
    private readonly view: View,
    private readonly options: Options,
  ) {
    const { mine, draft } = options;
    this.#kept = mine ? new Kept(`podstep.draft.${draft.id}`) : null;
    addEventListener("pagehide", () => this.#settleTyping());
    addEventListener("beforeunload", (event) => {
      this.#settleTyping();
      if (this.#unkept) event.preventDefault();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#settleTyping();
    });
    draft.leaving.on(() => this.forget());
    // Nobody edits a text that is not there: it is unlocked once all of it is.
    this.editor = new Editor({
      label: mine ? "YAML of this draft" : "YAML of this scenario, read-only",
      readOnly: true,
      onInput: () => this.#typed(),
    });
    this.editor.element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !mine) return;
      event.preventDefault();
      void this.applyTyped();
    });
    this.element.className = "yaml";
    render(<this.Content />, this.element);
    this.#left =
      this.#kept?.adopt().then((kept) => {
        this.#setBadge(kept !== null);
        return kept;
      }) ?? null;
  }

  /** Whether something is typed and not applied. */
  get dirty() {
    return this.#dirty.value;
  }

  readonly Content = () => {
    const { mine, canFork, onFork } = this.options;
    const checking = this.#checking.value;
    return (
      <>
        {mine ? (
          <div class="yaml-bar">
            <Button look="primary" icon="check" data-apply disabled={!this.dirty} act={() => this.applyTyped()}>
              Apply
            </Button>
            <Button look="quiet" hidden={!this.#changed.value} act={() => this.#revert()}>
              Discard changes
            </Button>
            <span class="grow" />
            <kbd>Ctrl Enter</kbd>
            <Maximize view={this.view} />
          </div>
        ) : (
          <div class="yaml-bar">
            <span class="dim">
              {canFork ? "Shared scenarios never change. Fork it to edit." : "This scenario is read-only."}
            </span>
            <span class="grow" />
            <Maximize view={this.view} />
            {canFork ? (
              <Button icon="fork" act={onFork}>
                Fork
              </Button>
            ) : null}
          </div>
        )}
        {checking ? <ProgressBar label={CHECKING} far={checking.far} onCancel={checking.cancel} /> : null}
        <div class="note yaml-elsewhere" role="status" hidden={!this.#stale.value}>
          {this.#stale.value ? (
            <>
              <Icon name="warn" />
              <div>
                <p>{STALE}</p>
                <Button look="small" act={() => this.#mergeNow()}>
                  Merge now
                </Button>
              </div>
            </>
          ) : null}
        </div>
        <Hosted element={this.editor.element} />
        <div class="yaml-problems" role="status">
          {this.#loading.value ? <ProgressBar label={LOADING} far={this.#loading.value} /> : this.#said.value}
        </div>
      </>
    );
  };

  /**
   * Load the text once; who asks meanwhile waits for the same answer. `again`: somebody has pressed what asks for it
   * once more, and has lost the focus.
   */
  async load(again = false) {
    if (this.#based !== undefined) return;
    await (this.#load ??= this.#loadText(again).finally(() => {
      this.#load = null;
    }));
  }

  async #loadText(again: boolean) {
    const { draft, mine, bundle } = this.options;
    const { editor } = this;
    if (!bundle()) {
      this.#note("The scenario of this run has no public text. Fork it to get one of your own.");
      return;
    }
    const late = setTimeout(() => (this.#loading.value ??= [null, LOADING]), LATE);
    let parts = false; // whether it was put into the editor as it came
    try {
      const kept = await this.#left;
      const text = await draft.load((answer) => {
        parts = true;
        return receive(answer, editor, (far) => (this.#loading.value = far));
      });
      const typed = typeof kept?.text === "string" ? kept.text : null;
      const [at, old, put] = Array.isArray(kept?.over) ? kept.over : [0, "", ""];
      this.#based = text;
      if (parts && typed === null) editor.came(text);
      else editor.value = typed ?? text;
      editor.readOnly = !mine;
      if (this.view.playback.warnings.length) this.#show([], this.view.playback.warnings);
      if (typed === null || typed === text) {
        if (mine) this.#edited(text);
        return;
      }
      // It may have been typed over another revision.
      this.#based = (kept?.over && replaced(typed, at, put, old)) ?? text;
      this.#edited(typed);
      this.#showElsewhere();
      toast("Unapplied changes were restored in the editor.");
    } catch (error) {
      if (this.#based === undefined) editor.value = ""; // a part of the text is not the text
      this.#said.value = (
        <>
          <p class="note error">{`The YAML could not be loaded: ${refusalOf(error).message}.`}</p>
          <button ref={again ? focused : null} type="button" class="btn small" onClick={() => void this.#again()}>
            Try again
          </button>
        </>
      );
    } finally {
      clearTimeout(late);
      this.#loading.value = null;
    }
  }

  async #again() {
    this.#said.value = null;
    await this.load(true);
    if (this.#based !== undefined) this.editor.focus();
  }

  #note(text: string) {
    this.#said.value = <p class="dim fine">{text}</p>;
  }

  /** The draft's text is another now: it is shown, unless something is typed, which stays as it is. */
  take(text: string) {
    if (this.#based === undefined) return;
    if (this.#typing) this.#settleTyping();
    if (this.dirty || this.#applying) {
      this.#showElsewhere();
      return;
    }
    this.#put(text);
  }

  #put(text: string) {
    this.#based = text;
    this.editor.value = text;
    this.#edited(text);
    this.#show([], []);
  }

  // ---- typing

  /** Something was typed: it can be applied at once; a long text is compared and kept when the keys rest. */
  #typed() {
    if (this.#based === undefined) return;
    this.#typing = true;
    this.#setChanged(true);
    this.#keepSoon();
  }

  #settleTyping() {
    if (!this.#typing) return;
    this.#edited(this.editor.value);
    if (this.dirty) return;
    this.#check.cancel(); // it is what was applied: nothing is wrong with that
    this.#show([], []);
  }

  #edited(text: string) {
    this.#typing = false;
    if (this.#based === undefined) return;
    const { draft } = this.options;
    if (text === draft.text) this.#based = text;
    const changed = text !== this.#based;
    this.#setBadge(changed);
    this.#keep(changed ? text : null);
    this.#setChanged(changed);
    if (changed && text.length > LONG) {
      this.#check.cancel();
      this.#note(`${bytes(text.length)}: it is checked when you apply it.`);
    } else if (changed) this.#check();
    // It was taken back, and another tab has changed it.
    else if (this.#based !== draft.text && draft.text !== undefined) this.#put(draft.text);
    this.#showElsewhere();
  }

  #keep(text: string | null) {
    if (!this.#kept || this.#gone) return;
    if (text === null) this.#kept.set(null);
    this.#unkept =
      text !== null && !(text.length < KEPT_MOST && this.#kept.set({ text, over: splice(this.#based ?? "", text) }));
  }

  /** Keep nothing any more: what was typed is somewhere else. */
  forget() {
    this.#typing = false;
    this.#gone = true;
    this.#keepSoon.cancel();
    this.#kept?.set(null);
    this.#unkept = false;
  }

  /**
   * Update the badge of the YAML tab: that something is not applied, also after a reload, else the number of warnings.
   */
  updateBadge() {
    this.#setBadge(this.#based === undefined ? Boolean(this.#kept?.get()) : this.dirty);
  }

  #setChanged(is: boolean) {
    this.#changed.value = is;
    this.#dirty.value = is;
  }

  #setBadge(changed: boolean) {
    const { strip } = this.options;
    const { length } = (this.view.playback.warnings ?? []).filter((one) => !isHarmless(one));
    strip.show("yaml", {
      badge: [changed ? "edited" : length ? count(length) : "", "fail-text"],
      hint: changed ? "Changes that are not applied" : length ? `${plural(length, "warning")} about the input` : "",
    });
  }

  /** While something is typed, show that another tab has saved a change. */
  #showElsewhere() {
    const { draft } = this.options;
    this.#stale.value = this.dirty && !this.#applying && draft.text !== undefined && this.#based !== draft.text;
  }

  /** Bring another tab's change into what is typed; nothing is applied. */
  async #mergeNow() {
    this.#settleTyping();
    const theirs = this.options.draft.text;
    const typed = this.editor.value;
    const { parts, conflicts } = merge(this.#based ?? "", typed, theirs);
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

  async #checkTyped() {
    if (this.#applying) return; // the server answers the newest check alone, and Apply waits for its own
    const text = this.editor.value;
    try {
      const { errors, warnings } = await this.view.playback.socket.call("bundle.check", { text });
      if (text === this.editor.value) this.#show(errors, warnings);
    } catch (error) {
      this.#refused(error);
    }
  }

  /** Show what is wrong with the text, if that is why it was refused. */
  #refused(error: unknown) {
    const { errors, warnings = [] } = refusalOf(error).body ?? {};
    if (errors) this.#show(errors, warnings);
    return Boolean(errors);
  }

  #show(errors: Problem[], found: Problem[]) {
    const { editor } = this;
    const warnings = placed(found, editor.value);
    editor.mark(errors, warnings);
    this.#said.value = (
      <>
        <Problems errors={errors} warnings={[]} editor={editor} />
        {warnings.length ? (
          <details open={warnings.length <= WARNINGS_OPEN}>
            <summary>{plural(warnings.length, "warning")}</summary>
            <ProblemList problems={warnings} kind="warning" editor={editor} />
          </details>
        ) : null}
      </>
    );
  }

  /** Save what is in the editor as the draft, then simulate it again. True when it was accepted. */
  async applyTyped() {
    if (!this.options.mine || !this.dirty || this.#based === undefined) return true;
    const text = this.editor.value;
    let stopped = false;
    this.#dirty.value = false;
    this.#applying = true;
    try {
      const { errors, warnings } = await this.#checked(text);
      this.#checking.value = null;
      this.#show(errors, warnings);
      if (errors[0]) {
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
      stopped = superseded(error);
      if (!this.#refused(error) && !stopped) {
        const overtaken = error instanceof Error && "code" in error && error.code === OVERTAKEN;
        this.#said.value = <p class={overtaken ? "note" : "note error"}>{refusalOf(error).message}</p>;
      }
      return false;
    } finally {
      this.#checking.value = null;
      this.#applying = false;
      this.#edited(this.editor.value);
      if (stopped) this.#note("Stopped: nothing was applied, and the text is as you left it.");
    }
  }

  /** Have a text checked; where that takes a while it can be stopped. */
  #checked(text: string) {
    const stopping = new AbortController();
    const cancel = () => {
      stopping.abort();
      this.editor.focus();
    };
    const progress = (report: Report) => {
      if (stopping.signal.aborted) return;
      if (!this.#checking.value) announce(`${CHECKING}. Cancel stops it.`);
      this.#checking.value = { far: progressOf(report), cancel };
    };
    return this.view.playback.socket.call("bundle.check", { text }, { signal: stopping.signal, progress });
  }

  /** What was typed is saved, perhaps with another tab's change in it; what was typed since stays. */
  #saved(text: string, answer: Edited) {
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

/** A switch between a narrow editor and one beside which only Inspect has room. */
function Maximize({ view }: { view: View }) {
  const [large, set] = useState(false);
  const words = large ? "Make the editor narrow again" : "Maximize the editor, with Inspect beside it";
  return (
    <Button
      look="quiet square"
      icon={large ? "minus" : "fit"}
      label={words}
      title={words}
      aria-pressed={large}
      act={() => {
        set(!large);
        view.actions.maximize(!large);
      }}
    />
  );
}

/** Warnings about a whole document lead to its first line. */
function placed(warnings: Problem[], text: string): Problem[] {
  if (warnings.every(({ line, document }) => line || !document)) return warnings;
  const firsts: number[] = [];
  let open = false;
  text.split("\n").forEach((row, i) => {
    if (/^---(\s|$)/.test(row)) open = false;
    else if (!open && row.trim() && !/^\s*#/.test(row)) {
      open = true;
      firsts.push(i + 1);
    }
  });
  return warnings.map((warning) => {
    const line = warning.line || firsts[(warning.document ?? 0) - 1];
    return line ? { ...warning, line } : warning;
  });
}
