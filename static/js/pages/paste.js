// The paste box: a cluster as text or files, checked while it is typed, kept until it is a draft.

import { $, h, fill, icon, debounce } from "../lib/dom.js";
import { Editor, problemList } from "../lib/editor.js";
import { bytes } from "../lib/progress.js";
import { plural } from "../lib/quantity.js";
import { superseded } from "../lib/socket.js";
import { asText, give, isTable, onDrop } from "./files.js";
import { FolderError, chosen, packed } from "./folder.js";
import { keepInView } from "./inview.js";
import { link } from "./link.js";
import { forget, keep, kept } from "./pasted.js";
import { placed, send } from "./send.js";
import { Working } from "./working.js";

const OVER_SOCKET = 3_500_000; // characters; longer texts go as a form
const CHECK_AFTER = 450; // milliseconds after the last key
const KEEP_AFTER = 300;
const LONG = 400_000; // characters of a text that is not checked again for every key
const MUCH = 2_000; // characters that come or go at once: a paste, no key
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

/**
 * Make `form` work; `tables` receives CSV files. Returns the functions that take files that were dropped elsewhere,
 * and that turn to the box.
 */
export function paste(form, tables) {
  const status = $("[data-status]", form);
  const problems = $("[data-problems]", form);
  const input = $("input[data-files]", form);
  const chips = $("[data-chosen]", form);
  const submit = $("[data-open]", form);
  const clear = $("[data-clear]", form);
  const title = form.elements.title;
  const note = $("[data-restored]", form);
  const place = $("[data-clear-place]", form);
  const editor = new Editor({
    label: "Manifests",
    placeholder: PLACEHOLDER,
    onInput: changed,
    describedBy: "paste-status",
  });
  const plain = $("textarea[name=text]", form);
  const before = kept();
  let restored = false; // the box holds last time's text, and nobody has touched it
  let held = []; // files that are sent as they are
  let checking = 0;
  let length = 0; // of the text when it last changed
  const working = new Working({
    place: $("[data-editor]", form), // within what is looked at
    say: (text) => say("", text),
    stopped: (text) => {
      busy(false);
      say("", text);
      submit.focus();
    },
  });
  let checked = { text: null, warnings: [] }; // a refusal need not repeat them

  form.addEventListener("formdata", ({ formData }) => formData.set("text", editor.value));
  // The editor that completes and explains comes when somebody turns to the box, or has a text there to go on with.
  const enrich = () => editor.enrich();
  for (const name of ["focusin", "pointerenter", "dragenter"])
    editor.element.addEventListener(name, enrich, { once: true });
  restored = !plain.value && Boolean(before.text.trim());
  editor.value = plain.value || before.text;
  ({ length } = editor);
  title.value ||= before.title;
  let suggested = before.title; // a title that nobody has typed on this page: another upload replaces it
  fill($("[data-editor]", form), editor.element);
  if (editor.value.trim()) enrich();
  const refused = $("#import-errors");
  if (refused) refuse(JSON.parse(refused.textContent));
  else if (editor.value.trim()) check();
  buttons();

  const checkSoon = debounce(check, CHECK_AFTER);
  const keepNow = () => keep(editor.value, title.value);
  const keepSoon = debounce(keepNow, KEEP_AFTER);
  addEventListener("pagehide", keepNow);

  function changed() {
    restored = false;
    const much = Math.abs(editor.length - length) > MUCH;
    ({ length } = editor);
    keepSoon();
    buttons();
    // What is being opened is the text as it was then.
    if (submit.getAttribute("aria-disabled") !== "true") working.stop();
    checking += 1; // a check of the previous text no longer counts
    checkSoon.cancel();
    if (length > LONG && !much) {
      say("", "Changed since the last check. A text of this length is checked again when you open it.");
      return;
    }
    say("", "");
    checkSoon();
  }

  /** Clear stands beside the note while the text is last time's, else among the other buttons. */
  function buttons() {
    clear.hidden = !editor.length && !held.length;
    note.hidden = !restored;
    if (restored) note.append(clear);
    else if (note.contains(clear)) place.after(clear);
  }

  function say(tone, ...content) {
    status.className = `paste-status ${tone}`;
    fill(status, ...content);
  }

  function show(errors, warnings = []) {
    const marked = held.length ? [] : errors;
    editor.mark(marked, held.length ? [] : warnings);
    fill(
      problems,
      errors.length ? problemList(errors, editor) : null,
      warnings.length
        ? h(
            "details",
            { class: "warnings", open: warnings.length <= 3 },
            h(
              "summary",
              null,
              plural(warnings.length, "warning"),
              h("span", { class: "dim", text: ": these do not stop the scheduler" }),
            ),
            problemList(warnings, editor, "warning"),
          )
        : null,
    );
  }

  function refuse(errors, warnings = checked.text === editor.value ? checked.warnings : []) {
    const all = placed(errors);
    say(
      "bad",
      icon("warn"),
      h(
        "span",
        null,
        h("b", { text: `${plural(all.length, "problem")} to fix. ` }),
        "Nothing is lost",
        all.some((one) => one.line) ? ": each one leads to its line." : ".",
      ),
    );
    show(all, warnings);
    ($("button", problems) ?? editor).focus();
  }

  async function check() {
    const mine = ++checking;
    const text = editor.value;
    if (!text.trim() || held.length) {
      show([]);
      say("", "");
      return;
    }
    if (text.length > OVER_SOCKET) {
      show([]);
      say("", `${bytes(text.length)}: it is checked when you open it.`);
      return;
    }
    const { done, ...options } = working.begin(
      "Checking the text",
      "Check stopped. The text is checked when you open it.",
    );
    if (text.length > LONG) say("", "Checking the text. Escape stops it.");
    try {
      const { errors, warnings, summary } = await link().call("bundle.check", { text }, options);
      if (mine !== checking || text !== editor.value) return;
      checked = { text, warnings };
      show(errors, warnings);
      if (errors.length)
        say(
          "bad",
          icon("warn"),
          h(
            "span",
            null,
            h("b", { text: plural(errors.length, "problem") }),
            errors.some((one) => one.line) ? "; each one leads to its line." : ".",
          ),
        );
      else say("good", icon("check"), h("span", null, h("b", { text: "Ready. " }), inWords(summary)));
    } catch (error) {
      if (error.code !== "request.superseded" && mine === checking)
        say("", `The check failed (${error.message}). You can still open the text.`);
    } finally {
      done();
    }
  }

  async function take(files, folder) {
    if (folder) {
      await takeFolder(folder);
      return;
    }
    const csv = files.filter(isTable);
    if (csv.length) {
      tables(csv);
      if (csv.length === files.length) return;
    }
    const rest = files.filter((file) => !isTable(file));
    const text = await asText(rest, OVER_SOCKET);
    const added = Boolean(editor.value.trim()) && !restored;
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

  /**
   * Call the bundle after its files, unless somebody has typed a title.
   *
   * @param {string} name
   * @param {boolean} added to what is in the box already
   */
  function entitle(name, added) {
    if (title.value && title.value !== suggested) return;
    suggested = (added && suggested ? `${suggested}, ${name}` : name).slice(0, title.maxLength);
    title.value = suggested;
  }

  /** Take a folder, or a promise of one. */
  async function takeFolder(folder) {
    const name = await holdPacked(folder);
    if (name) entitle(name, Boolean(editor.value.trim()) && !restored);
  }

  /** Hold a folder, or a promise of one, as one packed file; returns the folder's name, "" if it cannot be read. */
  async function holdPacked(folder) {
    try {
      say("", "Reading the folder …");
      const { file, left } = packed(await folder, Number(input.dataset.mostBytes));
      hold([file], left ? ` ${plural(left, "other file")} of the folder ${left === 1 ? "is" : "are"} not sent.` : "");
      return file.name.replace(/\.tar$/, "");
    } catch (error) {
      say(
        "bad",
        icon("warn"),
        error instanceof FolderError
          ? error.message
          : "The folder cannot be read. Pack it as .zip or .tar.gz and drop that.",
      );
      return "";
    }
  }

  /**
   * @param {File[]} files
   * @param {string} [note]
   */
  function hold(files, note = "") {
    held = files;
    give(input, files);
    fill(
      chips,
      files.map((file) =>
        h(
          "span",
          { class: "chip" },
          file.name,
          h(
            "button",
            {
              type: "button",
              "aria-label": `Take ${file.name} out again`,
              onclick: () => hold(held.filter((one) => one !== file)),
            },
            icon("close"),
          ),
        ),
      ),
    );
    $("[data-drop-hint]", form).hidden = files.length > 0;
    buttons();
    if (files.length) {
      show([]);
      const beside = editor.value.trim() ? " together with the text" : "";
      say("", `${plural(files.length, "file")} to send${beside}; checked when you open it.${note}`);
    } else check();
  }

  /** @param {Event} event */
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
    const { done, ...options } = working.begin(
      "Opening the cluster",
      "Stopped: nothing was created, and your input is still here.",
    );
    try {
      const whole = held.length > 0 || editor.length > OVER_SOCKET;
      const answer = whole
        ? await send(form, options)
        : await link().call("bundle.open", { text: editor.value, title: title.value }, options);
      if (answer.errors) {
        busy(false);
        refuse(answer.errors, answer.warnings);
        return;
      }
      forget();
      location.assign(answer.url);
    } catch (error) {
      if (error === null || superseded(error)) return; // it was stopped, and whoever stopped it has reported that
      busy(false);
      if (error.body?.errors) refuse(error.body.errors, error.body.warnings);
      else say("bad", icon("warn"), error.message);
    } finally {
      done();
    }
  }

  function busy(is) {
    submit.setAttribute("aria-disabled", String(is));
    fill(submit, is ? "Opening …" : "Open the workbench");
    if (is) say("", "Reading it. Escape stops it.");
  }

  form.addEventListener("submit", open);
  editor.element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) open(event);
  });
  // Pasting over what was restored from last time replaces it; Ctrl+Z brings it back.
  editor.element.addEventListener(
    "paste",
    () => {
      if (restored) {
        editor.selectAll();
        if (title.value === suggested) title.value = "";
      }
    },
    { capture: true },
  );
  form.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !(working.bar || submit.getAttribute("aria-disabled") === "true")) return;
      event.preventDefault();
      working.cancel();
    },
    { capture: true },
  );
  title.addEventListener("input", keepSoon);
  input.addEventListener("click", () => {
    input.value = "";
  });
  input.addEventListener("change", (event) => {
    if (event.isTrusted) take([...input.files]);
  });
  const folders = $("input[data-folder]", form);
  $("[data-folder-label]", form).hidden = !("webkitdirectory" in folders);
  folders.addEventListener("click", () => {
    folders.value = "";
  });
  folders.addEventListener("change", () => {
    if (folders.files.length) takeFolder(chosen(folders));
  });
  clear.addEventListener("click", () => {
    hold([]);
    editor.value = "";
    title.value = suggested = "";
    forget();
    changed();
    editor.focus();
  });
  onDrop(form, take);
  // A page that comes back from the browser's cache can be used again.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    busy(false);
    restored = Boolean(editor.value.trim()); // the page opened it already: any new text is another cluster
    suggested = title.value;
    buttons();
  });
  return {
    take: (files, folder) => {
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
function inWords(summary) {
  const kinds = Object.entries(summary)
    .filter(([, n]) => n > 0)
    .sort((a, b) => b[1] - a[1]);
  const shown = kinds
    .slice(0, SHOWN_KINDS)
    .map(([kind, n]) => plural(n, kind, kind.endsWith("s") ? `${kind}es` : `${kind}s`));
  if (kinds.length > SHOWN_KINDS) shown.push(`${kinds.length - SHOWN_KINDS} more kinds`);
  return `${shown.join(", ")}.`;
}
