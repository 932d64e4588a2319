// The paste box: a cluster as text or files, checked while it is typed, kept until it is a draft.

import { $, h, fill, icon, debounce } from "../lib/dom.js";
import { Editor, byLine, problemList } from "../lib/editor.js";
import { plural } from "../lib/quantity.js";
import { asText, give, isTable, onDrop } from "./files.js";
import { FolderError, chosen, packed } from "./folder.js";
import { link } from "./link.js";
import { placed, send } from "./send.js";

const KEPT = "podstep.paste";
const KEPT_MOST = 2_000_000; // characters; browsers keep about five million
const OVER_SOCKET = 3_500_000; // characters; longer texts go as a form
const CHECK_AFTER = 450; // milliseconds after the last key
const SHOWN_KINDS = 6;
const PLACEHOLDER = `apiVersion: v1
kind: Node
metadata: {name: worker-1}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  …`;

/** Make `form` work; `tables` is told of CSV files. Returns what takes files that were dropped elsewhere. */
export function paste(form, tables) {
  const status = $("[data-status]", form);
  const problems = $("[data-problems]", form);
  const input = $("[data-files]", form);
  const chips = $("[data-chosen]", form);
  const submit = $("[data-open]", form);
  const clear = $("[data-clear]", form);
  const title = form.elements.title;
  const note = $("[data-restored]", form);
  const place = $("[data-clear-place]", form);
  const editor = new Editor({ label: "Manifests", placeholder: PLACEHOLDER, onInput: changed, describedBy: "paste-status" });
  const plain = $("textarea[name=text]", form);
  const before = kept();
  let restored = false; // the box holds last time's text, and nobody has touched it
  let held = []; // files that are sent as they are
  let checking = 0;
  let checked = { text: null, warnings: [] }; // a refusal need not repeat them

  form.addEventListener("formdata", ({ formData }) => formData.set("text", editor.value));
  // The editor that completes and explains comes when somebody turns to the box, or has a text there to go on with.
  const enrich = () => editor.enrich();
  for (const name of ["focusin", "pointerenter", "dragenter"]) editor.element.addEventListener(name, enrich, { once: true });
  restored = !plain.value && Boolean(before.text.trim());
  editor.value = plain.value || before.text;
  title.value ||= before.title;
  fill($("[data-editor]", form), editor.element);
  if (editor.value.trim()) enrich();
  const refused = $("#import-errors");
  if (refused) refuse(JSON.parse(refused.textContent));
  else if (editor.value.trim()) check();
  buttons();

  const checkSoon = debounce(check, CHECK_AFTER);

  function changed() {
    restored = false;
    keep();
    buttons();
    say("", "");
    checkSoon();
  }

  /** Clear stands beside the note while the text is last time's, else among the other buttons. */
  function buttons() {
    clear.hidden = !editor.value && !held.length;
    note.hidden = !restored;
    if (restored) note.append(clear); else if (note.contains(clear)) place.after(clear);
  }

  function say(tone, ...content) {
    status.className = `paste-status ${tone}`;
    fill(status, ...content);
  }

  function show(errors, warnings = []) {
    const marked = held.length ? [] : errors;
    editor.mark(marked, held.length ? [] : warnings);
    fill(problems,
      errors.length ? problemList(byLine(errors), editor) : null,
      warnings.length ? h("details", { class: "warnings", open: warnings.length <= 3 },
        h("summary", null, plural(warnings.length, "warning"), h("span", { class: "dim", text: ": these do not stop the scheduler" })), problemList(byLine(warnings), editor, "warning")) : null);
  }

  function refuse(errors, warnings = checked.text === editor.value ? checked.warnings : []) {
    const all = placed(errors);
    say("bad", icon("warn"), h("span", null, h("b", { text: `${plural(all.length, "problem")} to mend. ` }), "Nothing is lost", all.some((one) => one.line) ? ": each one leads to its line." : "."));
    show(all, warnings);
    ($("button", problems) ?? editor).focus();
  }

  async function check() {
    const mine = ++checking;
    const text = editor.value;
    if (!text.trim() || held.length) { show([]); say("", ""); return; }
    if (text.length > OVER_SOCKET) { show([]); say("", "Too long to check while you type; it is checked when you open it."); return; }
    try {
      const { errors, warnings, summary } = await link().call("bundle.check", { text });
      if (mine !== checking || text !== editor.value) return;
      checked = { text, warnings };
      show(errors, warnings);
      if (errors.length) say("bad", icon("warn"), h("span", null, h("b", { text: plural(errors.length, "problem") }), errors.some((one) => one.line) ? "; each one leads to its line." : "."));
      else say("good", icon("check"), h("span", null, h("b", { text: "Ready. " }), inWords(summary)));
    } catch (error) {
      if (error.code !== "request.superseded" && mine === checking) say("", `It could not be checked (${error.message}). Open it anyway.`);
    }
  }

  async function take(files, folder) {
    if (folder) { await takeFolder(folder); return; }
    const csv = files.filter(isTable);
    if (csv.length) { tables(csv); if (csv.length === files.length) return; }
    const rest = files.filter((file) => !isTable(file));
    const text = await asText(rest, OVER_SOCKET);
    if (!title.value && rest.length) title.value = rest[0].name.replace(/(\.(ya?ml|json|jsonl|txt|zip|tar|tgz))?(\.gz)?$/i, "");
    if (text === null) {
      // More files than a form may have go as one.
      if (rest.length > Number(input.dataset.most)) await takeFolder(rest.map((file) => ({ path: file.name, file })));
      else hold(rest);
      return;
    }
    hold([]);
    editor.value = editor.value.trim() && !restored ? `${editor.value.trimEnd()}\n---\n${text}` : text;
    changed();
    editor.focus();
  }

  /** Hold a folder, or a promise of one, as one packed file. */
  async function takeFolder(folder) {
    try {
      say("", "Reading the folder …");
      const { file, left } = packed(await folder, Number(input.dataset.mostBytes));
      title.value ||= file.name.replace(/\.tar$/, "");
      hold([file], left ? ` ${plural(left, "other file")} of the folder ${left === 1 ? "is" : "are"} not sent.` : "");
    } catch (error) {
      say("bad", icon("warn"), error instanceof FolderError ? error.message : "The folder cannot be read. Pack it as .zip or .tar.gz and drop that.");
    }
  }

  function hold(files, note = "") {
    held = files;
    give(input, files);
    fill(chips, files.map((file) => h("span", { class: "chip" }, file.name,
      h("button", { type: "button", "aria-label": `Take ${file.name} out again`, onclick: () => hold(held.filter((one) => one !== file)) }, icon("close")))));
    $("[data-drop-hint]", form).hidden = files.length > 0;
    buttons();
    if (files.length) { show([]); say("", `${plural(files.length, "file")} to send${editor.value.trim() ? " together with the text" : ""}; checked when you open it.${note}`); }
    else check();
  }

  async function open(event) {
    event?.preventDefault();
    if (submit.getAttribute("aria-disabled") === "true") return;
    if (!editor.value.trim() && !held.length) {
      say("bad", icon("warn"), "The box is empty: paste manifests, drop files on it, or begin with an example below.");
      editor.focus();
      return;
    }
    checkSoon.cancel();
    checking += 1;
    busy(true);
    try {
      const whole = held.length > 0 || editor.value.length > OVER_SOCKET;
      const answer = whole
        ? await send(form, (share) => say("", `Uploading, ${Math.round(share * 100)} % …`))
        : await link().call("bundle.open", { text: editor.value, title: title.value });
      if (answer.errors) { busy(false); refuse(answer.errors, answer.warnings); return; }
      forget();
      location.assign(answer.url);
    } catch (error) {
      busy(false);
      if (error.body?.errors) refuse(error.body.errors, error.body.warnings);
      else say("bad", icon("warn"), error.message);
    }
  }

  function busy(is) {
    submit.setAttribute("aria-disabled", String(is));
    fill(submit, is ? "Opening …" : "Open the workbench");
    if (is) say("", "Reading it …");
  }

  function keep() {
    try { if (editor.value.length < KEPT_MOST) localStorage.setItem(KEPT, JSON.stringify({ text: editor.value, title: title.value })); } catch { /* storage is off: for this page only */ }
  }

  form.addEventListener("submit", open);
  editor.element.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) open(event); });
  // Who pastes into what was left from last time means to begin anew; Ctrl+Z brings it back.
  editor.element.addEventListener("paste", () => { if (restored) { editor.selectAll(); if (title.value === before.title) title.value = ""; } }, { capture: true });
  title.addEventListener("input", keep);
  input.addEventListener("click", () => { input.value = ""; });
  input.addEventListener("change", (event) => { if (event.isTrusted) take([...input.files]); });
  const folders = $("[data-folder]", form);
  $("[data-folder-label]", form).hidden = !("webkitdirectory" in folders);
  folders.addEventListener("click", () => { folders.value = ""; });
  folders.addEventListener("change", () => { if (folders.files.length) takeFolder(chosen(folders)); });
  clear.addEventListener("click", () => { hold([]); editor.value = ""; title.value = ""; forget(); changed(); editor.focus(); });
  onDrop(form, take);
  // A page that comes back from the browser's cache can be used again.
  addEventListener("pageshow", (event) => { if (event.persisted) busy(false); });
  return (files, folder) => { if (folder || !files.every(isTable)) form.scrollIntoView({ block: "nearest" }); return take(files, folder); };
}

function kept() {
  try { return { text: "", title: "", ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") }; } catch { return { text: "", title: "" }; }
}

function forget() {
  try { localStorage.removeItem(KEPT); } catch { /* storage is off */ }
}

/** `{"Node": 3, "Pod": 12}` as words. */
function inWords(summary) {
  const kinds = Object.entries(summary).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  const shown = kinds.slice(0, SHOWN_KINDS).map(([kind, n]) => plural(n, kind, kind.endsWith("s") ? `${kind}es` : `${kind}s`));
  if (kinds.length > SHOWN_KINDS) shown.push(`${kinds.length - SHOWN_KINDS} more kinds`);
  return `${shown.join(", ")}.`;
}
