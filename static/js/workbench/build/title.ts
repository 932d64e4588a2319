// The title of one's own draft: saved as it is typed, kept until it is saved, and followed where another tab gives it
// another.

import { offering } from "../../kit/offering.tsx";
import { $, debounce } from "../../lib/dom.ts";
import { Kept } from "../../lib/kept.ts";
import { refusalOf } from "../../lib/socket.ts";

const SAVE_AFTER = 600;
const SAVED_MS = 1500;

import type { Draft } from "../draft/draft.ts";

/** Make the title's field work on `draft`. */
export async function title(draft: Draft) {
  const field = $("input[data-title]");
  const status = $("[data-saved]");
  const kept: Kept<{ text: string }> = new Kept(`podstep.title.${draft.id}`);
  let saved = field.value; // as the server has it, as far as is known
  let note: ReturnType<typeof offering> | null = null;
  let saving = false;
  let again = false;
  const show = (text: string) => {
    field.value = text;
    retitle();
  };
  const retitle = () => {
    document.title = `${field.value || "Untitled"} · podstep`;
  };
  const report = (text: string) => {
    status.textContent = text;
    if (text === "saved")
      setTimeout(() => {
        status.textContent = "";
      }, SAVED_MS);
  };
  const save = async () => {
    again = saving;
    if (saving) return; // the next one is made on the revision that this one leads to
    saving = true;
    const { value } = field;
    try {
      await draft.rename(value);
      saved = value;
      if (field.value === value) kept.set(null);
      report("saved");
    } catch (error) {
      const { code, message, body } = refusalOf(error);
      if (code === "draft.stale" && body) ask({ titled: Number(body.titled), title: String(body.title ?? "") }, value);
      else report(`not saved: ${message}`);
    } finally {
      saving = false;
      if (again && field.value !== saved) save();
    }
  };
  const soon = debounce(save, SAVE_AFTER);

  /** Two tabs have renamed it: whoever typed last decides. */
  const ask = ({ titled, title: theirs }: { titled: number; title: string }, mine: string) => {
    draft.titled = titled;
    saved = theirs;
    if (theirs === mine) {
      kept.set(null);
      return;
    }
    report("not saved");
    note?.remove();
    const take = () => {
      show(theirs);
      kept.set(null);
      report("");
    };
    const said = `Another tab has renamed this draft “${theirs || "Untitled"}”.`;
    const offers = { "Keep mine": save, "Take theirs": take };
    note = offering(said, Object.entries(offers), { name: "warn", ms: 0 });
  };

  draft.renamed.on((theirs: string) => {
    const typed = field.value !== saved;
    if (theirs === saved) return;
    if (typed) {
      soon.cancel();
      ask({ titled: draft.titled, title: theirs }, field.value);
      return;
    }
    saved = theirs;
    show(theirs);
  });
  draft.socket.on("unavailable", () => {
    if (saving) report("not saved yet, trying again");
  });
  field.addEventListener("input", () => {
    retitle();
    kept.set({ text: field.value });
    soon();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") field.blur();
  });
  const left = await kept.adopt();
  if (typeof left?.text === "string" && left.text !== field.value && field.value === saved) {
    show(left.text);
    await save();
  }
}
