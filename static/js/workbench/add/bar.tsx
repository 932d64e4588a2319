// The bar over Build: add anything, and lead back or forth what was done. Undo and Redo are of everything in Build.

import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { openMenu, type Section } from "../../kit/menu.tsx";
import { nodesOf } from "../../kit/node.tsx";
import { toast, typing } from "../../lib/dom.ts";
import type { Socket } from "../../lib/socket.ts";
import type { Edit } from "../edit/edit.ts";
import { reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";
import { BulkChange } from "./bulk.tsx";
import { openForm } from "./form.tsx";
import { openGenerator } from "./generate.tsx";

const MENU: [heading: string, entries: [what: string, text: string, icon?: string][]][] = [
  [
    "Cluster",
    [
      ["+generate", "Generate a cluster…", "dice"],
      ["+NodePool", "Node pool", "server"],
      ["schedulers", "Another scheduler…", "people"],
    ],
  ],
  [
    "Workloads",
    [
      ["+Deployment", "Deployment"],
      ["+StatefulSet", "StatefulSet"],
      ["+DaemonSet", "DaemonSet"],
      ["+Job", "Job"],
      ["+Pod", "Pod"],
      ["PodGroup", "PodGroup and its workload"],
    ],
  ],
  [
    "Rules",
    [
      ["+PriorityClass", "PriorityClass"],
      ["+PodDisruptionBudget", "PodDisruptionBudget"],
      ["+Service", "Service"],
    ],
  ],
  [
    "Quota (Kueue)",
    [
      ["+ClusterQueue", "A team's queue"],
      ["+ResourceFlavor", "ResourceFlavor"],
    ],
  ],
  [
    "Storage",
    [
      ["+PersistentVolume", "PersistentVolume"],
      ["+PersistentVolumeClaim", "PersistentVolumeClaim"],
      ["+StorageClass", "StorageClass"],
    ],
  ],
  ["Many at once", [["+bulk", "Change many nodes…", "edit"]]],
];

/** Its element; without `mine` what is added goes into a copy. */
export function addBar(view: View, edit: Edit, mine: boolean) {
  const bar = document.createElement("div");
  bar.className = "add-bar";
  bar.role = "group";
  bar.ariaLabel = "Add and undo";
  render(<Bar view={view} edit={edit} mine={mine} />, bar);
  if (!mine) return bar;
  view.actions.add.on(async (what) => {
    if (!(await answers(view.playback.socket))) return;
    if (what === "generate") await openGenerator(view, edit);
    else if (what === "bulk") await new BulkChange(view, edit).open();
    else await openForm(view, edit, what);
  });
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || typing(event) || document.querySelector("dialog[open]"))
      return;
    const key = event.key.toLowerCase();
    if (key !== "z" && (key !== "y" || event.shiftKey)) return;
    event.preventDefault();
    if (key === "z" && !event.shiftKey) edit.back();
    else edit.forth();
  });
  return bar;
}

function Bar({ view, edit, mine }: { view: View; edit: Edit; mine: boolean }) {
  reads(view.store.edits);
  const sections = MENU.map(([heading, entries]): Section => {
    const add = (what: string) =>
      what === "schedulers" ? view.actions.policy(what) : view.actions.edit({ create: what });
    return { heading, entries: entries.map(([what, text, icon]) => ({ text, icon, run: () => add(what) })) };
  });
  const title = mine ? "Add objects" : "Add objects, in a copy";
  const button = useRef<HTMLButtonElement>(null);
  const show = () => {
    const at = button.current as HTMLButtonElement;
    openMenu(title, sections, at, at.parentElement as HTMLElement);
  };
  return (
    <>
      <Button
        ref={button}
        look="small"
        icon="plus"
        title={title}
        aria-haspopup="menu"
        aria-expanded={false}
        act={show}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          show();
        }}
      >
        Add
      </Button>
      <span class="grow" />
      {mine ? <History edit={edit} /> : null}
    </>
  );
}

function History({ edit }: { edit: Edit }) {
  const { last, next } = edit.options.undo;
  const box = useRef<HTMLSpanElement>(null);
  const held = box.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    if (held) box.current?.querySelector<HTMLElement>(":focus, button:not([disabled])")?.focus();
  });
  const button = (icon: string, label: string, words: string, keys: string, act: () => void) => (
    <Button
      look="quiet square"
      icon={icon}
      label={label}
      title={words ? `${label}: ${words}` : `Nothing to ${label.toLowerCase()}`}
      aria-keyshortcuts={keys}
      disabled={!words}
      act={act}
    />
  );
  return (
    <span ref={box} class="add-history">
      {button("undo", "Undo", last, "Control+Z", () => edit.back())}
      {button("redo", "Redo", next, "Control+Shift+Z", () => edit.forth())}
    </span>
  );
}

let giveUp = () => {}; // ends the waiting for a server that is away

/** Whether the server answers, at once or when it is back; Escape and another wish end the waiting. */
function answers(socket: Socket): boolean | Promise<boolean> {
  giveUp();
  if (socket.connected) return true;
  const note = toast("The server is unreachable. The form opens once it responds.", { name: "warn", ms: 0 });
  return new Promise((resolve) => {
    const end = (is: boolean) => {
      quiet();
      removeEventListener("keydown", key, true);
      note?.remove();
      giveUp = () => {};
      resolve(is);
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      end(false);
    };
    const quiet = socket.on("up", () => end(true));
    addEventListener("keydown", key, true);
    giveUp = () => end(false);
    const cancel = (
      <Button look="small" title="Cancel (Escape)" aria-keyshortcuts="Escape" act={giveUp}>
        Cancel
      </Button>
    );
    note?.append(...nodesOf(cancel));
  });
}
