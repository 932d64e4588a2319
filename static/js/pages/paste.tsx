// The paste box: a cluster as text or files, checked while it is typed, kept until it is a draft.

import type { ComponentChildren } from "preact";
import { Icon } from "../kit/icon.tsx";
import { place } from "../kit/place.ts";
import { ProblemList } from "../kit/problems.tsx";
import { $, debounce } from "../lib/dom.ts";
import { Editor } from "../editor/editor.ts";
import { MOST_OPENED, pack, type Packed } from "../lib/packed.ts";
import { bytes } from "../lib/progress.ts";
import type { CheckedBundle, OpenedBundle, Problem } from "../lib/protocol.js";
import { plural } from "../lib/quantity.ts";
import { refusalOf, superseded } from "../lib/socket.ts";
import { asText, give, isTable, onDrop } from "./files.ts";
import { FolderError, chosen, packed, type InFolder } from "./folder.ts";
import { heldIn } from "./held.ts";
import { keepInView } from "./inview.ts";
import { link } from "./link.ts";
import { forget, keep, kept, noteLeft } from "../lib/pasted.ts";
import { placed } from "./placed.ts";
import { Working } from "./working.tsx";

type Folder = InFolder[] | Promise<InFolder[]>;

const OVER_SOCKET = 3_500_000; // characters; longer texts go as a form
const CHECK_AFTER = 450; // milliseconds after the last key
const KEEP_AFTER = 300;
const LONG = 400_000; // characters of a text that is not checked again for every key
const MUCH = 2_000; // characters that come or go at once: a paste, no key
const SHOWN_KINDS = 6;
const FEW_WARNINGS = 3; // that are unfolded
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

/**
 * Make `form` work; `tables` receives CSV files. Returns the functions that take files that were dropped elsewhere,
 * and that turn to the box.
 */
export function paste(form: HTMLFormElement, tables: (files: File[]) => void) {
  const status = $("[data-status]", form);
  const problems = $("[data-problems]", form);
  const input = $("input[data-files]", form);
  const folders = $("input[data-folder]", form);
  const chips = $("[data-chosen]", form);
  const submit = $("[data-open]", form);
  const clear = $("[data-clear]", form);
  const title = $("input[name=title]", form);
  const note = $("[data-restored]", form);
  const box = $("[data-editor]", form);
  const keeping = $("input[name=keep]", form);
  const plain = $("textarea[name=text]", form);
  const editor = new Editor({
    label: "Manifests",
    placeholder: PLACEHOLDER,
    onInput: changed,
    describedBy: "paste-status",
  });
  const before = kept();
  let left = !plain.value && Boolean(before.text.trim()); // last time's text is kept, and neither wanted nor replaced
  let restored = false; // last time's text, and nobody has touched it
  let held: File[] = []; // files that are sent as they are
  let checking = 0;
  let length = 0; // of the text when it last changed
  let checked = { text: "", warnings: [] as Problem[] }; // a refusal need not repeat them
  let suggested = ""; // a title that nobody has typed on this page: another upload replaces it

  // The editor that completes and explains comes when somebody turns to the box, or has a text there to go on with.
  const enrich = () => void editor.enrich();
  for (const name of ["focusin", "pointerenter", "dragenter"])
    editor.element.addEventListener(name, enrich, { once: true });
  editor.value = plain.value;
  ({ length } = editor);
  box.replaceChildren(editor.element);
  const working = new Working(box, say, (text) => {
    busy(false);
    say(text);
    submit.focus();
  });
  if (filled()) enrich();
  const refused = $("#import-errors");
  if (refused) refuse(JSON.parse(refused.textContent));
  else if (filled()) void check();
  buttons();

  const checkSoon = debounce(check, CHECK_AFTER);
  const keepNow = () => {
    if (!left || filled()) keep(editor.value, title.value);
  };
  const keepSoon = debounce(keepNow, KEEP_AFTER);

  function filled() {
    return Boolean(editor.value.trim());
  }

  function opening() {
    return submit.getAttribute("aria-disabled") === "true";
  }

  function changed() {
    restored = false;
    const much = Math.abs(editor.length - length) > MUCH;
    ({ length } = editor);
    keepSoon();
    buttons();
    if (!opening()) working.stop(); // what is being opened is the text as it was then
    checking += 1; // a check of the previous text no longer counts
    checkSoon.cancel();
    if (length > LONG && !much) {
      say("Changed since the last check. A text of this length is checked again when you open it.");
      return;
    }
    say("");
    checkSoon();
  }

  /** The note offers last time's text while the box is empty. */
  function buttons() {
    clear.hidden = !editor.length && !held.length;
    note.hidden = !left || filled() || held.length > 0;
  }

  /** Put last time's text into the box. */
  function restore() {
    left = false;
    restored = true;
    editor.value = before.text;
    ({ length } = editor);
    title.value ||= suggested = before.title;
    buttons();
    enrich();
    editor.focus();
    void check();
  }

  function say(text: ComponentChildren, tone: "" | "good" | "bad" = "") {
    status.className = `paste-status ${tone}`;
    place(
      tone ? (
        <>
          <Icon name={tone === "good" ? "check" : "warn"} />
          <span>{text}</span>
        </>
      ) : (
        text
      ),
      status,
    );
  }

  function show(errors: Problem[], warnings: Problem[] = []) {
    editor.mark(held.length ? [] : errors, held.length ? [] : warnings);
    place(
      <>
        {errors.length ? <ProblemList problems={errors} kind="error" editor={editor} /> : null}
        {warnings.length ? (
          <details class="warnings" open={warnings.length <= FEW_WARNINGS}>
            <summary>
              {plural(warnings.length, "warning")}
              <span class="dim">: these do not stop the scheduler</span>
            </summary>
            <ProblemList problems={warnings} kind="warning" editor={editor} />
          </details>
        ) : null}
      </>,
      problems,
    );
  }

  function refuse(errors: Problem[], warnings = checked.text === editor.value ? checked.warnings : []) {
    const all = placed(errors);
    say(
      <>
        <b>{`${plural(all.length, "problem")} to fix. `}</b>
        Nothing is lost{all.some(({ line }) => line) ? ": each one leads to its line." : "."}
      </>,
      "bad",
    );
    show(all, warnings);
    ($("button", problems) ?? editor).focus();
  }

  async function check() {
    const mine = ++checking;
    const text = editor.value;
    if (!text.trim() || held.length) {
      show([]);
      say("");
      return;
    }
    if (text.length > OVER_SOCKET) {
      show([]);
      say(`${bytes(text.length)}: it is checked when you open it.`);
      return;
    }
    const { done, ...options } = working.begin(
      "Checking the text",
      "Check stopped. The text is checked when you open it.",
    );
    if (text.length > LONG) say("Checking the text. Escape stops it.");
    try {
      const { errors, warnings, summary }: CheckedBundle = await link().call("bundle.check", { text }, options);
      if (mine !== checking || text !== editor.value) return;
      checked = { text, warnings };
      show(errors, warnings);
      if (errors.length)
        say(
          <>
            <b>{plural(errors.length, "problem")}</b>
            {errors.some(({ line }) => line) ? "; each one leads to its line." : "."}
          </>,
          "bad",
        );
      else
        say(
          <>
            <b>Ready. </b>
            {inWords(summary)}
          </>,
          "good",
        );
    } catch (error) {
      if (!superseded(error) && mine === checking)
        say(`The check failed (${refusalOf(error).message}). You can still open the text.`);
    } finally {
      done();
    }
  }

  async function take(files: File[], folder?: Folder) {
    if (folder) return takeFolder(folder);
    try {
      const carried = files.length === 1 ? await heldIn(files[0]) : null;
      if (carried) return await openCarried(carried);
    } catch (error) {
      return say(`${files[0].name}: ${refusalOf(error).message}`, "bad");
    }
    const csv = files.filter(isTable);
    if (csv.length) {
      tables(csv);
      if (csv.length === files.length) return;
    }
    const rest = files.filter((file) => !isTable(file));
    const text = await asText(rest, OVER_SOCKET);
    const added = filled() && !restored;
    if (rest.length) entitle(rest[0].name.replace(/(\.(ya?ml|json|jsonl|txt|zip|tar|tgz))?(\.gz)?$/i, ""), added);
    if (text === null) {
      // More files than a form may have go as one.
      if (rest.length > Number(input.dataset.most)) await holdPacked(rest.map((file) => ({ path: file.name, file })));
      else hold(rest);
      return;
    }
    hold([]);
    editor.value = added ? `${editor.value.trimEnd()}\n---\n${text}` : text;
    changed();
    editor.focus();
  }

  /** Open what a file of podstep carries as a link that holds it does; what is too long for one comes into the box. */
  async function openCarried(carried: Packed) {
    const fragment = await pack(carried);
    if (fragment.length <= MOST_OPENED) {
      location.hash = fragment;
      return;
    }
    hold([]);
    editor.value = carried.text;
    title.value = suggested = carried.title.slice(0, title.maxLength);
    changed();
  }

  /** Call the bundle after its files, or also after those that are added, unless somebody has typed a title. */
  function entitle(name: string, added: boolean) {
    if (title.value && title.value !== suggested) return;
    suggested = (added && suggested ? `${suggested}, ${name}` : name).slice(0, title.maxLength);
    title.value = suggested;
  }

  async function takeFolder(folder: Folder) {
    const name = await holdPacked(folder);
    if (name) entitle(name, filled() && !restored);
  }

  /** Hold a folder as one packed file; returns the folder's name, "" if it cannot be read. */
  async function holdPacked(folder: Folder) {
    try {
      say("Reading the folder …");
      const { file, left } = packed(await folder, Number(input.dataset.mostBytes));
      hold(
        [file],
        left ? ` ${plural(left, "other file")} of the folder ${left === 1 ? "is" : "are"} not uploaded.` : "",
      );
      return file.name.replace(/\.tar$/, "");
    } catch (error) {
      const unread = "The folder cannot be read. Pack it as .zip or .tar.gz and drop that.";
      say(error instanceof FolderError ? error.message : unread, "bad");
      return "";
    }
  }

  function hold(files: File[], more = "") {
    held = files;
    give(input, files);
    place(
      files.map((file) => (
        <span key={file} class="chip">
          {file.name}
          <button
            type="button"
            aria-label={`Remove ${file.name}`}
            onClick={() => hold(held.filter((one) => one !== file))}
          >
            <Icon name="close" />
          </button>
        </span>
      )),
      chips,
    );
    $("[data-drop-hint]", form).hidden = files.length > 0;
    buttons();
    if (!files.length) {
      void check();
      return;
    }
    show([]);
    const beside = filled() ? " together with the text" : "";
    say(`${plural(files.length, "file")} to send${beside}; checked when you open it.${more}`);
  }

  async function open() {
    if (opening()) return;
    checkSoon.cancel(); // what it would say takes the place of what is said here
    checking += 1;
    if (!filled() && !held.length) {
      say("The box is empty: paste manifests, drop files on it, or begin with an example below.", "bad");
      editor.focus();
      return;
    }
    busy(true);
    const { done, ...options } = working.begin(
      "Opening the cluster",
      "Stopped: nothing was created, and your input is still here.",
    );
    try {
      if (held.length || editor.length > OVER_SOCKET) {
        const { send } = await import("./send.ts");
        const { url = "", errors } = await send(form, options);
        if (errors) {
          busy(false);
          return refuse(errors);
        }
        leave(url);
      } else {
        const asked = { text: editor.value, title: title.value, ...(keeping.checked ? { keep: "yes" } : {}) };
        const { url, left }: OpenedBundle = await link().call("bundle.open", asked, options);
        leave(url, left);
      }
    } catch (error) {
      if (error === null || superseded(error)) return; // it was stopped, and whoever stopped it has reported that
      busy(false);
      const { message, body } = refusalOf(error);
      if (body?.errors) refuse(body.errors, body.warnings);
      else say(message, "bad");
    } finally {
      done();
    }
  }

  function leave(url: string, left?: OpenedBundle["left"]) {
    noteLeft(left);
    forget();
    location.assign(`${url}?tab=story`); // where a narrow window has one region, its triage is in this one
  }

  function busy(is: boolean) {
    submit.setAttribute("aria-disabled", String(is));
    submit.textContent = is ? "Opening …" : "Open the workbench";
    if (is) say("Reading it. Escape stops it.");
  }

  addEventListener("pagehide", keepNow);
  form.addEventListener("formdata", ({ formData }) => formData.set("text", editor.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void open();
  });
  editor.element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void open();
  });
  // Pasting over what was restored from last time replaces it; Ctrl+Z brings it back.
  editor.element.addEventListener(
    "paste",
    () => {
      if (!restored) return;
      editor.selectAll();
      if (title.value === suggested) title.value = "";
    },
    { capture: true },
  );
  form.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !(working.shown || opening())) return;
      event.preventDefault();
      working.cancel();
    },
    { capture: true },
  );
  $("[data-restore]", form).addEventListener("click", restore);
  title.addEventListener("input", keepSoon);
  input.addEventListener("click", () => (input.value = ""));
  input.addEventListener("change", (event) => {
    if (event.isTrusted) void take([...(input.files ?? [])]);
  });
  $("[data-folder-label]", form).hidden = !("webkitdirectory" in folders);
  folders.addEventListener("click", () => (folders.value = ""));
  folders.addEventListener("change", () => {
    if (folders.files?.length) void takeFolder(chosen(folders));
  });
  clear.addEventListener("click", () => {
    editor.value = "";
    hold([]);
    title.value = suggested = "";
    forget();
    left = false;
    changed();
    editor.focus();
  });
  onDrop(form, take);
  // A page that comes back from the browser's cache can be used again.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    busy(false);
    restored = filled(); // the page opened it already: any new text is another cluster
    suggested = title.value;
    buttons();
  });
  return {
    take: (files: File[], folder?: Folder) => {
      if (folder || !files.every(isTable)) form.scrollIntoView({ block: "nearest" });
      return take(files, folder);
    },
    turnTo: () => {
      keepInView(form, editor.element);
      editor.focus();
    },
  };
}

/** `{"Node": 3, "Pod": 12}` as words. */
function inWords(summary: Record<string, number>) {
  const kinds = Object.entries(summary)
    .filter(([, n]) => n > 0)
    .sort((a, b) => b[1] - a[1]);
  const shown = kinds
    .slice(0, SHOWN_KINDS)
    .map(([kind, n]) => plural(n, kind, kind.endsWith("s") ? `${kind}es` : `${kind}s`));
  if (kinds.length > SHOWN_KINDS) shown.push(`${kinds.length - SHOWN_KINDS} more kinds`);
  return `${shown.join(", ")}.`;
}
