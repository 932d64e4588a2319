// The start page: paste or drop a cluster, see every mistake on its line, and go on to the workbench.

import { $, $$, h, fill, icon } from "./lib/dom.js";
import { Editor, problemList } from "./lib/editor.js";
import { plural } from "./lib/quantity.js";
import { Socket } from "./lib/socket.js";
import { mini } from "./mini.js";

const KEPT = "podstep.paste";
const OVER_SOCKET = 3_500_000; // longer texts and files go as a form
const TEXT_FILE = /\.(ya?ml|json|jsonl|txt)$/i;
const PLACEHOLDER = `# kubectl get nodes,pods,services,replicasets,pv,pvc -A -o yaml
# or write it yourself:
kind: Node
apiVersion: v1
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}
---
kind: Deployment
…`;

if ($("[data-mini]")) mini($("[data-mini]"));

const form = $("[data-paste-form]");
const problems = $("[data-problems]", form);
const files = $("[data-files]", form);
const submit = $("[data-open]", form);
const editor = new Editor({ label: "Manifests", placeholder: PLACEHOLDER, onInput: keep });
const plain = $("textarea[name=text]", form);
editor.area.name = "text";
editor.value = plain.value || kept();
fill($("[data-editor]", form), editor.element);
const refused = $("#import-errors");
if (refused) show(JSON.parse(refused.textContent));
let socket = null;

function kept() { try { return sessionStorage.getItem(KEPT) ?? ""; } catch { return ""; } }
function keep(text) { try { if (text.length < 2_000_000) sessionStorage.setItem(KEPT, text); } catch { /* only this page then */ } }

function show(errors) {
  editor.mark(errors);
  fill(problems, errors.length ? [h("p", null, h("b", { text: `${plural(errors.length, "problem")} to mend. ` }), h("span", { class: "dim", text: "Nothing was lost; click one to go to its line." })), problemList(errors, editor)] : null);
}

function note(text) { fill(problems, text ? h("p", { class: "note error" }, icon("warn"), text) : null); }

form.addEventListener("submit", async (event) => {
  if (files.files.length || editor.value.length > OVER_SOCKET) return; // a plain form does it
  event.preventDefault();
  if (!editor.value.trim()) { note("The box is empty: paste manifests, drop files on it, or pick an example below."); editor.area.focus(); return; }
  socket ??= new Socket();
  submit.disabled = true;
  try {
    const { url } = await socket.call("bundle.open", { text: editor.value, title: form.elements.title.value });
    try { sessionStorage.removeItem(KEPT); } catch { /* nothing kept */ }
    location.assign(url);
  } catch (error) {
    if (error.body?.errors) {
      show(error.body.errors);
      problems.scrollIntoView({ block: "nearest" });
    } else note(error.message);
    submit.disabled = false;
  }
});

// A page that comes back from the browser's cache is usable again.
addEventListener("pageshow", () => { submit.disabled = false; });

files.addEventListener("change", () => take(files.files));
editor.element.addEventListener("dragover", (event) => { event.preventDefault(); editor.element.classList.add("drag"); });
editor.element.addEventListener("dragleave", () => editor.element.classList.remove("drag"));
editor.element.addEventListener("drop", (event) => {
  event.preventDefault();
  editor.element.classList.remove("drag");
  if (event.dataTransfer.files.length) take(event.dataTransfer.files);
});

/** One readable text goes into the box, so that its errors have lines; anything else is sent as files. */
async function take(list) {
  const chosen = $("[data-chosen]", form);
  const texts = [...list].every((file) => TEXT_FILE.test(file.name) && file.size < OVER_SOCKET);
  if (texts && [...list].reduce((sum, file) => sum + file.size, 0) < OVER_SOCKET) {
    editor.value = (await Promise.all([...list].map((file) => file.text()))).join("\n---\n");
    files.value = "";
    keep(editor.value);
    show([]);
    if (!form.elements.title.value && list.length === 1) form.elements.title.value = list[0].name.replace(/\.[^.]+$/, "");
    chosen.textContent = `${plural(list.length, "file")} in the box`;
    return;
  }
  files.files = list instanceof FileList ? list : files.files;
  chosen.textContent = `${[...list].map((file) => file.name).join(", ")}: press Open the workbench`;
}

for (const trace of $$("[data-trace-form]")) trace.addEventListener("submit", () => { const button = $("button.primary", trace); button.textContent = "Uploading…"; button.setAttribute("aria-disabled", "true"); });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
