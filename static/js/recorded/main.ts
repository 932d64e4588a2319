// The workbench in a file: a record answers in the place of a server, and what needs an engine says where there is one.

import "../base.js";
import { live } from "./live.tsx";
import { Recorded, bundleOf } from "./record.ts";
import { Answers, RecordedSocket } from "./socket.ts";

/** Commands of somebody's own wish: they offer the way to an engine at once. */
const WISHES = new Set(["branch.create", "branch.replay", "branch.try", "run.start", "why.apply"]);

async function begin() {
  const [record, bundle] = await Promise.all([Recorded.of(document), bundleOf(document)]);
  const answers = new Answers(record, (command) => {
    if (WISHES.has(command)) live(bundle);
  });
  RecordedSocket.answers = answers;
  const charts = document.querySelector("template[data-charts]");
  const loadCharts = async () => window.podstepHeld?.run(charts);
  Object.assign(window, { WebSocket: RecordedSocket, podstepEarly: null, podstepCharts: loadCharts });
  const root = document.querySelector<HTMLElement>("[data-workbench]");
  if (root) {
    root.dataset.bundleUrl = URL.createObjectURL(new Blob([bundle.text]));
    root.dataset.query ??= bundle.query;
  }
  await import("../workbench/page/main.ts");
  if (window.podstep) window.podstep.missed = answers.missed;
  document.addEventListener("click", (event) => {
    const page = (event.target as Element).closest?.('a[href^="/"]');
    if (!page) return;
    event.preventDefault(); // pages of a server: there is none here
    live(bundle);
  });
  document.querySelector("[data-live]")?.addEventListener("click", () => live(bundle));
}

void begin();
