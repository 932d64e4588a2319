// "Run a trace": two CSV files become a run in a worker.

import { $, fill, icon, h } from "../lib/dom.js";
import { Progress, progressOf } from "../lib/progress.js";
import { give, holdsNodes, isTable, onDrop } from "./files.js";
import { placed, send } from "./send.js";

/** Make `form` work; returns what takes CSV files that were dropped elsewhere. */
export function trace(form) {
  const inputs = { nodes: $("input[data-nodes-file]", form), pods: $("input[data-pods-file]", form) };
  const status = $("[data-trace-status]", form);
  const submit = $("button.primary", form);

  async function take(files, folder) {
    const all = folder ? (await folder).map(({ file }) => file).filter(isTable) : files;
    for (const file of all) give((await holdsNodes(file)) ? inputs.nodes : inputs.pods, [file]);
    form.scrollIntoView({ block: "center" });
    const missing = !inputs.nodes.files.length ? "the nodes' file" : !inputs.pods.files.length ? "the pods' file" : "";
    say("", missing ? `Still missing: ${missing}.` : "Both files are selected.");
    (inputs.nodes.files.length ? (inputs.pods.files.length ? submit : inputs.pods) : inputs.nodes).focus();
  }

  function say(tone, ...content) {
    status.className = `paste-status ${tone}`;
    fill(status, ...content);
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (submit.getAttribute("aria-disabled") === "true") return;
    submit.setAttribute("aria-disabled", "true");
    say("", "Sending the trace. Cancel stops it.");
    const stopping = new AbortController();
    const bar = new Progress("Reading the trace", { onCancel: () => stopping.abort() });
    status.after(bar.element);
    try {
      const answer = await send(form, {
        signal: stopping.signal,
        progress: (report) => bar.set(...progressOf(report)),
      });
      if (answer.url) {
        location.assign(answer.url);
        return;
      }
      const problems = placed(answer.errors);
      say(
        "bad",
        icon("warn"),
        h(
          "ul",
          null,
          problems.slice(0, 20).map((problem) => h("li", { text: problem.message })),
          problems.length > 20 ? h("li", { text: `and ${problems.length - 20} more` }) : null,
        ),
      );
    } catch (error) {
      if (error === null) say("", "Stopped. Both files are still selected.");
      else say("bad", icon("warn"), error.message);
    } finally {
      bar.element.remove();
    }
    submit.removeAttribute("aria-disabled");
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) {
      submit.removeAttribute("aria-disabled");
      say("", "");
    }
  });
  onDrop(form, take);
  return take;
}
