// Branches: copies made at a step, as a tree, with what was changed and what each led to; to switch, rename, compare
// and delete.

import { render } from "preact";
import { nodesOf } from "../../kit/node.tsx";
import { $$, announce, toast } from "../../lib/dom.ts";
import type { Branch, BranchList } from "../../lib/protocol.js";
import { count } from "../../lib/quantity.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import type { Edit } from "../edit/edit.ts";
import type { View } from "../view/view.ts";
import { showBeside, type Found } from "./beside.tsx";
import { deleteDialog, renameDialog } from "./dialogs.tsx";
import { BranchHere, branchesIn, rowsOf, type Tree } from "./tree.tsx";
import { follow } from "../playback/store.ts";

const COMPARED = 8; // by themselves; the others at a press
const LIGHT = 200_000; // nodes × cycles that may be computed for that
const SETTLE = 1200; // milliseconds after the last change of the draft
const NONE = "No branches yet. Go to a step and branch there: the copy records its origin and is compared with this.";

export class Branches {
  readonly element = document.createElement("section");
  readonly own: string;
  #listed: BranchList | null = null;
  #error = "";
  #turn = 0;
  #found = new Map<string, Found>(); // "draft revision" to its outcome
  #timer = 0;
  #stop: HTMLElement | null = null; // what Tab comes to in the tree

  constructor(
    private readonly view: View,
    private readonly edit: Edit | null,
    private readonly mine: boolean,
  ) {
    const { source } = view.playback;
    this.own = source.draft ?? "";
    this.element.className = "history branches";
    this.element.setAttribute("aria-labelledby", "branches-heading");
    this.element.hidden = !edit;
    if (!edit) return;
    follow(view.store.scenario, () => {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.load(), this.#listed ? SETTLE : 0);
    });
    view.actions.branch.on(() => this.create());
    view.actions.branched.on(() => this.load());
    this.#deck();
  }

  /** "Branch here" stands in the deck too. */
  #deck() {
    const place = () => {
      const button = <BranchHere class="quiet small deck-branch" create={() => this.create()} />;
      document.querySelector("[data-deck]")?.append(...nodesOf(button));
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
      this.#error = "";
      this.#draw();
      await this.#compareSome(turn);
    } catch (error) {
      if (turn !== this.#turn || superseded(error)) return;
      this.#error = refusalOf(error).message;
      this.#draw();
    }
  }

  #draw() {
    const listed = this.#listed;
    const many = listed ? branchesIn(listed) : 0;
    const { source } = this.view.playback;
    const tree: Tree = {
      own: this.own,
      shown: [`scenario:${source.scenario}`, `run:${source.run}`],
      found: ({ draft, revision }) => this.#found.get(`${draft} ${revision}`),
      go: (url) => this.#go(url),
      goto: (index) => this.view.playback.goto(index),
      rename: (branch) => this.#rename(branch),
      compare: (branch) => this.#compare(branch, true),
      remove: (branch) => this.#delete(branch),
    };
    render(
      <>
        <div class="history-head">
          <h3 id="branches-heading">
            {"Branches "}
            <small class="dim">{many ? count(many) : ""}</small>
          </h3>
          <span class="grow" />
          <BranchHere class="small" create={() => this.create()} />
        </div>
        <div
          class="branch-rows"
          role="treegrid"
          aria-label="Branches"
          hidden={!many}
          onKeyDown={(event) => this.#key(event)}
        >
          {listed && many ? rowsOf(listed, tree) : null}
        </div>
        <p class="dim fine">{this.#error || (listed && !many ? NONE : "")}</p>
      </>,
      this.element,
    );
    this.#rove(this.#stop?.isConnected ? this.#stop : $$("[tabindex]", this.element)[0]);
  }

  // ---- their outcomes

  async #compareSome(turn: number) {
    const { playback } = this.view;
    if (!playback.complete || playback.cycles * (playback.nodes?.names.length ?? 0) > LIGHT) return;
    const asked = (this.#listed?.branches ?? [])
      .filter(({ parent }) => parent)
      .sort((a, b) => Number(b.draft === this.own) - Number(a.draft === this.own))
      .slice(0, COMPARED);
    for (const branch of asked) {
      if (turn !== this.#turn) return;
      if (!this.#found.has(`${branch.draft} ${branch.revision}`)) await this.#compare(branch);
    }
  }

  async #compare(branch: Branch, pressed = false) {
    const { playback } = this.view;
    const turn = this.#turn;
    let found: Found;
    try {
      found = await playback.socket.call("branch.compare", { draft: branch.draft });
      branch.words = found.parent ? found.words : branch.words;
    } catch (error) {
      if (superseded(error)) return;
      const { code, message } = refusalOf(error);
      found = { error: code === "bundle.invalid" ? "It has errors, so it cannot be simulated." : message };
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

  /** Go to another of them at the same step, with the same tab and selection. */
  #go(url: string) {
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
      toast(`It could not be branched: ${refusalOf(error).message}`, { name: "warn", ms: 6000 });
    }
  }

  /** The revision of a branch that is known here; of one's own draft the page knows later ones than the list. */
  #seen({ draft, revision }: Branch) {
    const { draft: known } = this.view;
    return known && draft === this.own ? Math.max(revision, known.revision, known.titled) : revision;
  }

  #rename(branch: Branch) {
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
      const field = document.querySelector<HTMLInputElement>("input[data-title]");
      if (field && branch.draft === this.own) {
        field.value = branch.title;
        document.title = `${branch.title || "Untitled"} · podstep`;
      }
    });
  }

  #delete(branch: Branch) {
    const own = branch.draft === this.own;
    const drop = async (close: () => void) => {
      await this.view.playback.socket.call("draft.delete", { draft: branch.draft, base: this.#seen(branch) });
      if (own) {
        this.#leave(branch);
        return;
      }
      close();
      announce(`Deleted: ${branch.title || "Untitled"}.`);
      await this.load();
      this.#focus(this.element.querySelector<HTMLElement>(this.#stop ? "[role=row] :is(a, b)" : "button"));
    };
    const children = (this.#listed?.branches ?? []).filter(({ parent }) => parent === `draft:${branch.draft}`).length;
    deleteDialog(branch, { children, own, drop });
  }

  #leave({ parent }: Branch) {
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

  /** Make an element the only one in the tree that Tab comes to. */
  #rove(target: HTMLElement | null | undefined) {
    for (const other of $$("[tabindex]", this.element)) other.tabIndex = -1;
    if (target) target.tabIndex = 0;
    this.#stop = target ?? null;
  }

  #focus(target: HTMLElement | null | undefined) {
    if (target?.closest("[role=row]")) this.#rove(target);
    target?.focus();
  }

  #key(event: KeyboardEvent) {
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>("[data-branch-row]");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = $$("[data-branch-row]", this.element);
    const within = $$("[tabindex]", row);
    const [at, here] = [rows.indexOf(row), within.indexOf(target)];
    const first = (other?: HTMLElement) => other?.querySelector<HTMLElement>("[tabindex]");
    const branch = this.#listed?.branches.find(({ draft }) => draft === row.dataset.branchRow);
    const acts: Record<string, undefined | (() => void)> = {
      ArrowDown: () => this.#focus(first(rows[at + 1])),
      ArrowUp: () => this.#focus(first(rows[at - 1])),
      ArrowRight: () => this.#focus(within[here + 1]),
      ArrowLeft: () => this.#focus(within[here - 1]),
      Home: () => this.#focus(first(rows[0])),
      End: () => this.#focus(first(rows.at(-1))),
      Delete: branch && (() => this.#delete(branch)),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}
