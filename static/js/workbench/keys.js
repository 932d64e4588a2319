// The keyboard map and its help. Keys do nothing while a field is being typed in.

import { h, dialog, typing } from "../lib/dom.js";

const MAP = [
  [["→", "←"], "one cycle on, one back"], [["Shift →", "Shift ←"], "one phase on, one back"], [[".", ","], "next and previous of what the deck names: an event, a second of virtual time, a change from outside, a failure …"], [["Space"], "play and pause"], [["Home", "End"], "to the start, to the end"],
  [["g"], "go to a step"], [["/"], "find a node or pod"], [["1", "…", "8"], "the tabs of Inspect"], [["w"], "why: the reasons, and what would help"], [["e"], "edit a node, a pod or another object at this step"], [["t"], "nodes as a table"], [["[", "]"], "hide or show Build, Inspect"], [["s"], "share"], [["Ctrl Z", "Ctrl Shift Z"], "undo a change of Build, do it again"], [["Esc"], "close, unselect"], [["?"], "this help"],
];

export function help() {
  dialog("Keys", h("dl", { class: "keys" }, MAP.flatMap(([keys, text]) => [h("dt", null, keys.map((key) => (key === "…" ? " … " : [h("kbd", { text: key }), " "]))), h("dd", { text })])),
    h("p", { class: "dim fine", text: "In a matrix, the tree, the stage and the timeline the arrow keys move within it. Ctrl Enter in the YAML applies it." }));
}

/** Ask for a step. */
export function askStep(playback) {
  const field = h("input", { class: "field", inputmode: "decimal", autocomplete: "off", "aria-label": "Step", placeholder: `1 to ${playback.cycles}, ${playback.end ? "end, " : ""}or major.minor as 1.17`, value: playback.wanted ? String(playback.wanted > playback.cycles ? "end" : playback.wanted) : "" });
  const wrong = h("p", { class: "stale-text", role: "alert" });
  const box = dialog("Go to step", h("form", { method: "dialog", onsubmit: async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    let index = /^\d+$/.test(text) ? Number(text) : text.toLowerCase() === "end" ? playback.last : NaN;
    if (/^\d+\.\d+$/.test(text)) {
      try { index = (await playback.ask("scenario.open", { source: playback.source, step: text })).index; } catch (error) { wrong.textContent = error.message; return; }
    }
    if (!(index >= 0 && index <= playback.last)) { wrong.textContent = `There is no step ${text}: this timeline has cycles 1 to ${playback.cycles}.`; return; }
    box.close();
    playback.goto(index);
  } }, h("div", { class: "copy-row" }, field, h("button", { class: "btn primary", text: "Go" })), wrong));
  field.select();
}

/** What a key is about: the pod or node that has the focus, else the node that is selected. */
function about(target, view) {
  const [kind, index] = (target.closest?.("[data-key]")?.dataset.key ?? "").split(":");
  if (kind === "pod") return { pod: Number(index) };
  if (kind === "object") return { target: target.closest("[data-key]").dataset.key.slice(7) };
  const node = Number((kind === "node" ? index : target.closest?.("[data-node]")?.dataset.node) ?? view.node);
  return node >= 0 ? { node } : {};
}

export function keys({ playback, deck, view, build, layout, stage, onShare, tabs }) {
  addEventListener("keydown", (event) => {
    if (typing(event) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const onControl = event.target instanceof HTMLElement && event.target.matches("button, a, summary, input, [role=tab], [role=treeitem]");
    const act = {
      ArrowRight: () => { if (event.shiftKey) { deck.phase(1, event.timeStamp); return; } deck.pause(); playback.goto(playback.wanted + 1, event.timeStamp); },
      ArrowLeft: () => { if (event.shiftKey) { deck.phase(-1, event.timeStamp); return; } deck.pause(); playback.goto(playback.wanted - 1, event.timeStamp); },
      Home: () => { deck.pause(); playback.goto(0, event.timeStamp); },
      End: () => { deck.pause(); playback.goto(playback.last, event.timeStamp); },
      " ": onControl ? null : () => deck.toggle(),
      ".": () => deck.step(1, event.timeStamp), ",": () => deck.step(-1, event.timeStamp),
      g: () => askStep(playback), "/": () => { view.emit("region", "build"); build.focusSearch(); },
      s: onShare, w: () => view.emit("why", about(event.target, view)), e: () => { if (view.edit) view.emit("edit", about(event.target, view)); }, "?": help, t: () => stage.tools.querySelector("[data-stage-table]")?.click(),
      "[": () => layout.toggle("build"), "]": () => layout.toggle("inspect"),
      Escape: () => { view.light(null); view.selectNode(-1); view.selectPod(-1); },
    }[event.key] ?? (/^[1-9]$/.test(event.key) && tabs[event.key - 1] ? () => view.setTab(tabs[event.key - 1]) : null);
    if (!act) return;
    event.preventDefault();
    act();
  });
}
