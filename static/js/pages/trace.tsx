// "Run a trace": two CSV files become a run in a worker.

import type { ComponentChildren } from "preact";
import { Icon } from "../kit/icon.tsx";
import { place } from "../kit/place.ts";
import { ProgressBar, type Far } from "../kit/progress.tsx";
import { $ } from "../lib/dom.ts";
import { progressOf } from "../lib/progress.ts";
import { give, holdsNodes, isTable, onDrop } from "./files.ts";
import type { InFolder } from "./folder.ts";
import { placed } from "./placed.ts";

const LISTED = 20; // problems

/** Make `form` work; returns what takes CSV files that were dropped elsewhere. */
export function trace(form: HTMLFormElement) {
  const inputs = { nodes: $("input[data-nodes-file]", form), pods: $("input[data-pods-file]", form) };
  const status = $("[data-trace-status]", form);
  const submit = $("button.primary", form);
  const say = (text: ComponentChildren, bad = false, bar: ComponentChildren = null) =>
    place(
      <>
        <p class={bad ? "paste-status bad" : "paste-status"} role="status">
          {bad ? <Icon name="warn" /> : null}
          {text}
        </p>
        {bar}
      </>,
      status,
    );

  async function take(files: File[], folder?: Promise<InFolder[]>) {
    const all = folder ? (await folder).map(({ file }) => file).filter(isTable) : files;
    for (const file of all) give((await holdsNodes(file)) ? inputs.nodes : inputs.pods, [file]);
    form.scrollIntoView({ block: "center" });
    const missing = !inputs.nodes.files?.length ? "nodes" : !inputs.pods.files?.length ? "pods" : null;
    say(missing ? `Still missing: the ${missing}' file.` : "Both files are selected.");
    (missing ? inputs[missing] : submit).focus();
  }

  async function start() {
    const stopping = new AbortController();
    const { signal } = stopping;
    const bar = { label: "Reading the trace", onCancel: () => stopping.abort() };
    const sent = (far?: Far) => say("Sending the trace. Cancel stops it.", false, <ProgressBar {...bar} far={far} />);
    sent();
    try {
      const { send } = await import("./send.ts");
      const { url, errors = [] } = await send(form, { signal, progress: (report) => sent(progressOf(report)) });
      if (url) return location.assign(url);
      const problems = placed(errors).slice(0, LISTED);
      say(
        <ul>
          {problems.map(({ message }) => (
            <li>{message}</li>
          ))}
          {errors.length > LISTED ? <li>{`and ${errors.length - LISTED} more`}</li> : null}
        </ul>,
        true,
      );
    } catch (error) {
      if (error === null) say("Stopped. Both files are still selected.");
      else say((error as Error).message, true);
    }
    submit.removeAttribute("aria-disabled");
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (submit.getAttribute("aria-disabled") === "true") return;
    submit.setAttribute("aria-disabled", "true");
    void start();
  });
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    submit.removeAttribute("aria-disabled");
    say("");
  });
  onDrop(form, take);
  return take;
}
