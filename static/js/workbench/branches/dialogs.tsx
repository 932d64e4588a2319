// Renaming and deleting a branch; another tab may have changed it meanwhile.

import { useState } from "preact/hooks";
import { openDialog } from "../../kit/dialog.tsx";
import { Icon } from "../../kit/icon.tsx";
import { announce, toast } from "../../lib/dom.ts";
import type { Branch } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";

/** Take over the revision that another tab has made, so that pressing again acts on that one; null for other errors. */
function overtakenBy(error: unknown, branch: Branch): { title: string } | null {
  const { code, body } = refusalOf(error);
  if (code !== "draft.stale" || !body) return null;
  branch.revision = Number(body.revision);
  return { title: String(body.title ?? "") };
}

/** Ask for another name of a branch; `save(title)` saves it. */
export function renameDialog(branch: Branch, save: (title: string) => Promise<void>) {
  const box = openDialog("Rename the branch", (close) => {
    const submit = async (event: Event) => {
      event.preventDefault();
      try {
        await save((box.querySelector("input") as HTMLInputElement).value);
        close();
        announce(`Renamed: ${branch.title || "Untitled"}.`);
      } catch (error) {
        const newer = overtakenBy(error, branch);
        const text = newer
          ? `Another tab has renamed it to “${newer.title || "Untitled"}”. Press Rename again to use your name anyway.`
          : `It could not be renamed: ${refusalOf(error).message}`;
        toast(text, { name: "warn", ms: 8000 });
      }
    };
    return (
      <form onSubmit={submit}>
        <div class="copy-row">
          <input class="field" maxlength={120} defaultValue={branch.title} aria-label="Name of the branch" />
          <button class="btn primary">Rename</button>
        </div>
      </form>
    );
  });
  box.querySelector("input")?.select();
}

type Deleted = { children: number; own: boolean; drop: (close: () => void) => Promise<void> };

/** Ask whether to delete a branch, one's `own` or another, with so many `children`; `drop()` deletes it. */
export function deleteDialog(branch: Branch, deleted: Deleted) {
  const box = openDialog(`Delete ${branch.title || "Untitled"}?`, (close) => (
    <Delete branch={branch} close={close} {...deleted} />
  ));
  box.querySelector<HTMLElement>(".danger")?.focus();
}

function Delete({ branch, children, own, drop, close }: Deleted & { branch: Branch; close: () => void }) {
  const [busy, setBusy] = useState(false);
  const [overtaken, setOvertaken] = useState(false);
  const act = async () => {
    setBusy(true);
    try {
      await drop(close);
    } catch (error) {
      setBusy(false);
      if (overtakenBy(error, branch)) setOvertaken(true);
      else toast(`It could not be deleted: ${refusalOf(error).message}`, { name: "warn", ms: 6000 });
    }
  };
  const orphans = children
    ? ` ${plural(children, "branch", "branches")} of it ${children === 1 ? "stays" : "stay"}, as its parent's.`
    : "";
  const here = own ? " It is open now: its parent will be opened instead." : "";
  return (
    <>
      <p>{`This cannot be undone.${orphans}${here} Links that you shared remain.`}</p>
      <p class="stale-text" role="alert">
        {overtaken ? (
          <>
            <Icon name="warn" />
            It has been changed in another tab since this list was made. Nothing is deleted yet.
          </>
        ) : null}
      </p>
      <div class="edit-bar">
        <button type="button" class="btn danger" disabled={busy} onClick={act}>
          <Icon name="cross" />
          Delete it
        </button>
        <button type="button" class="btn quiet" onClick={close}>
          Keep it
        </button>
      </div>
    </>
  );
}
