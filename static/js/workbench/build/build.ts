// Build: the objects as a tree, the policy, and the YAML of the draft with errors on their line.

import { $, h, fill, icon, toast } from "../../lib/dom.ts";
import { refusalOf } from "../../lib/socket.ts";
import { addBar } from "../add/bar.tsx";
import { AGAIN, Draft } from "../draft/draft.ts";
import { Edit } from "../edit/edit.ts";
import { Editors } from "../edit/editors.ts";
import { History } from "./history.tsx";
import { Objects } from "../objects/objects.tsx";
import { Policy } from "../policy/policy.ts";
import { tabsIn } from "../../kit/tabs.tsx";
import { DraftText } from "./text.tsx";
import { Undo } from "../edit/undo.ts";
import { Verbs } from "../verbs/verbs.ts";
import { unstored } from "../../lib/pasted.ts";
import { follow } from "../playback/store.ts";
import type { Edited, How } from "../draft/draft.ts";
import type { Change } from "../draft/change.ts";
import type { EditOptions } from "../edit/edit.ts";
import type { View } from "../view/view.ts";

const TRIES = 4; // of simulating what another tab has saved

/**
 * What Build needs of the page: `bundleUrl`, where the text is, `draft`, whose it is; `onApplied` simulates it again.
 */
export type BuildOptions = {
  mine: boolean;
  draft: string;
  bundleUrl: string;
  canFork: boolean;
  onFork: () => void;
  onForkToEdit: EditOptions["fork"];
  onApplied: () => Promise<void>;
};

export class Build {
  body: HTMLElement;
  strip: ReturnType<typeof tabsIn>;
  draft: Draft;
  text: DraftText;
  undo: Undo;
  edit: Edit | null;
  verbs: Verbs | null;
  history: History;
  objects: Objects;
  page: HTMLDivElement;
  policy: Policy;
  constructor(
    region: HTMLElement,
    readonly view: View,
    readonly options: BuildOptions,
  ) {
    this.body = $("[data-build]", region);
    const items = [
      { key: "objects", title: "Objects" },
      { key: "policy", title: "Policy" },
      { key: "yaml", title: "YAML" },
    ];
    this.strip = tabsIn($("[role=tablist]", region), this.body, items, (key) => this.open(key));
    const { mine, canFork, onFork } = options;
    const { playback } = view;
    const bundle = () => options.bundleUrl || (playback.scenario ? `/api/scenarios/${playback.scenario}/bundle` : "");
    this.draft = view.draft = new Draft({ socket: playback.socket, id: mine ? options.draft : "", url: bundle });
    const text = () => this.#whole();
    const change: Change = (make, how) => this.#change(make, how);
    const dirty = () => this.text.dirty;
    this.text = new DraftText(view, { mine, canFork, onFork, draft: this.draft, strip: this.strip, change, bundle });
    this.undo = new Undo(view, {
      change: (make, how) => change(make, { ...how, words: null, keep: true }),
      dirty,
      text,
      store: mine ? `podstep.undo.${options.draft}` : "",
    });
    this.edit =
      mine || canFork
        ? new Edit(view, {
            mine,
            fork: options.onForkToEdit,
            text,
            change,
            dirty,
            undo: this.undo,
            onText: () => {
              view.actions.region("build");
              this.open("yaml");
            },
          })
        : null;
    view.store.editing.value = mine ? "draft" : canFork ? "copy" : null;
    if (this.edit) new Editors(view, this.edit);
    this.verbs = this.edit && new Verbs(view, this.edit);
    this.history = new History(view, this.edit, mine);
    if (this.edit) this.body.before(addBar(view, this.edit, mine));
    this.objects = new Objects(view, this.edit);
    this.page = h("div", { class: "objects" }, this.objects.element, this.history.element);
    this.policy = new Policy(view, {
      mine,
      canFork,
      onFork,
      text,
      change,
      dirty,
      undo: this.undo,
      onText: () => this.open("yaml"),
    });
    this.open("objects");
    follow(playback.store.scenario, ({ revision }) => {
      this.text.updateBadge();
      this.draft.opened(revision);
    });
    this.draft.changed.on((changed) => this.#changedElsewhere(changed));
    this.draft.vanished.on(() => this.#gone());
    this.draft.failed.on((error) =>
      toast(`The changes of another tab could not be loaded: ${error.message}`, { name: "warn", ms: 6000 }),
    );
    view.actions.reveal.on((line) => void this.#reveal(line));
    view.actions.policy.on((part) => {
      view.actions.region("build");
      this.open("policy");
      this.policy.reveal(part);
    });
  }

  open(tab: string) {
    this.strip.select(tab);
    fill(this.body, { yaml: this.text.element, policy: this.policy.element, objects: this.page }[tab]);
    this.objects.show(tab === "objects");
    if (tab === "policy") this.policy.update();
    else if (tab === "yaml") {
      this.text.load();
      this.text.editor.enrich();
    }
  }

  /** Show a line of the text in the editor. */
  async #reveal(line: number) {
    this.view.actions.region("build");
    this.open("yaml");
    await this.text.load();
    this.text.editor.jump(line);
  }

  focusSearch() {
    this.open("objects");
    this.objects.focusSearch();
  }

  // ---- the draft's text

  /** The text that is simulated. */
  async #whole() {
    await this.text.load();
    const text = await this.draft.load();
    if (text === undefined) throw new Error("The text of this draft could not be loaded.");
    return text;
  }

  /**
   * Make an edit, `make(text)` → `{text, words…}`, save it and simulate again; see Draft. `words` are what Undo calls
   * it, those of the answer without them, and null keeps no step; `saved(answer)` is called before it is simulated.
   */
  async #change(
    make: Parameters<Draft["change"]>[0],
    { words, saved, ...how }: { words?: string | null; saved?: (answer: Edited) => void; based?: string } & How = {},
  ) {
    const answer = await this.draft.change(make, how);
    const { text, before, merged, given = text } = answer;
    if (given !== text)
      noteUnstored(answer, () => void this.#change(() => ({ text: given }), { based: text, whole: true, keep: true }));
    else if (text === before) return answer;
    if (saved) saved(answer);
    else this.text.take(text);
    try {
      await this.options.onApplied();
    } finally {
      if (words !== null && text !== before) this.undo.push(words ?? answer.words ?? "", before, text);
    }
    if (merged && words !== null) this.#notifyMerged();
    return answer;
  }

  /** After the edit's own notice. */
  #notifyMerged() {
    setTimeout(() => this.edit?.notify("Merged with the changes of another tab: both are in the draft."));
  }

  /**
   * Another tab has saved: show that, and leave alone what is typed here. What is no fault of the text is tried again:
   * the draft counts as shown, and nothing else would open it.
   */
  async #changedElsewhere({ text, simulated }: { text?: string; simulated: boolean }, tries = TRIES) {
    if (text !== undefined) this.text.take(text);
    if (simulated) return;
    const { shown } = this.draft;
    try {
      await this.options.onApplied();
      toast("Changed in another tab. It is shown here too.", { name: "help" });
    } catch (error) {
      const { body, message } = refusalOf(error);
      const [first] = body?.errors ?? [];
      if (!first && tries > 1) {
        setTimeout(() => {
          if (this.draft.shown === shown) void this.#changedElsewhere({ simulated }, tries - 1);
        }, AGAIN);
        return;
      }
      toast(`Another tab has saved a text that cannot be simulated: ${first?.message ?? message}`, {
        name: "warn",
        ms: 9000,
      });
    }
  }

  /** The draft was deleted; what it held is still here. */
  #gone() {
    const note = toast("This draft was deleted in another tab. Its text is still here.", { name: "warn", ms: 0 });
    note?.append(
      h(
        "button",
        {
          type: "button",
          class: "btn small",
          onclick: async () => {
            try {
              const text = this.text.dirty ? this.text.editor.value : this.draft.text;
              const { url } = await this.view.playback.socket.call("bundle.open", {
                text,
                title: $("input[data-title]")?.value ?? "",
              });
              this.text.forget();
              location.assign(url);
            } catch (error) {
              const { body, message } = refusalOf(error);
              toast(`It could not be saved: ${body?.errors?.[0]?.message ?? message}`, {
                name: "warn",
                ms: 6000,
              });
            }
          },
        },
        icon("copy"),
        "Keep it as a new draft",
      ),
    );
  }

  /** Apply pending changes, as sharing wants. */
  async settle() {
    return this.text.settle();
  }
}

/** Say what of an edit was not stored, with the way to keep it. */
function noteUnstored({ left }: Edited, keep: () => void) {
  const note = left && toast(unstored(left), { name: "help", ms: 12_000 });
  const button = h("button", { type: "button", class: "btn small", text: "Keep them" });
  button.addEventListener("click", () => {
    note?.remove();
    keep();
  });
  note?.append(button);
}
