import { useEffect, useRef, useState } from "preact/hooks";
import { $, h } from "../lib/dom.ts";
import { Editor } from "../editor/editor.ts";
import { Inline } from "../kit/prose.tsx";
import { gettext } from "./words.ts";
import { give, passed, player, type Asked } from "./asked.ts";

const TOKEN = "csrfmiddlewaretoken"; // of the page, against forged requests

/** The line of the first object that a question names, 1 where it names none: most scenarios begin with nodes. */
function lineOf(question: string, text: string) {
  const lines = text.split("\n").map((line) => /\bname: ([\w.-]+)/.exec(line)?.[1]);
  const found = [...question.matchAll(/`([\w.-]+)`/g)].map(([, name]) => lines.indexOf(name));
  return (found.find((line) => line >= 0) ?? 0) + 1;
}

/** The scenario's YAML to edit, with what must stay as it is and the fewest edits known. */
export const Edit = ({ task }: { task: Asked }) => {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const [original, setOriginal] = useState<string | null>(null);
  const [failed, setFailed] = useState("");
  useEffect(() => {
    const made = new Editor({ label: gettext("The cluster as YAML"), onInput: () => give(made.value) });
    editor.current = made;
    host.current?.append(made.element);
    for (const name of ["focusin", "pointerenter"])
      made.element.addEventListener(name, () => void made.enrich(), { once: true });
    fetch(`/api/scenarios/${player.stage.scenario}/bundle`)
      .then(async (response) => {
        if (!response.ok) throw new Error(gettext("The server answered {status}.", { status: response.status }));
        made.value = await response.text();
        setOriginal(made.value);
        give(made.value);
        made.show(lineOf(task.question, made.value));
      })
      .catch((error: Error) =>
        setFailed(gettext("The cluster could not be loaded: {message}", { message: error.message })),
      );
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a page has one task
  }, []);
  /** A draft of the learner's own, with the text as it stands, in another tab. */
  const openIt = () => {
    const form = h(
      "form",
      { method: "post", action: "/import/", enctype: "multipart/form-data", target: "_blank", hidden: true },
      h("input", { name: TOKEN, value: $(`input[name=${TOKEN}]`).value }),
      h("input", { name: "title", value: document.title.split(" · ")[0].slice(0, 120) }),
      h("textarea", { name: "text", text: editor.current?.value ?? "" }),
    );
    document.body.append(form);
    form.submit();
    form.remove();
  };
  const reset = () => {
    if (!editor.current || original === null) return;
    editor.current.value = original;
    give(original);
  };
  return (
    <div class="edit-task">
      {task.forbidden.length > 0 && (
        <ul class="forbidden">
          {task.forbidden.map((sentence) => (
            <li key={sentence}>
              <Inline text={sentence} />
            </li>
          ))}
        </ul>
      )}
      <div class="edit-host" ref={host} />
      {failed && <p class="note error">{failed}</p>}
      <p class="edit-acts">
        {task.par !== null && (
          <span class="dim num">{gettext("Fewest edits known: {number}", { number: task.par })}</span>
        )}
        <span class="grow" />
        <button type="button" class="btn quiet" disabled={original === null} onClick={openIt}>
          {gettext("Open it in the workbench")}
        </button>
        <button type="button" class="btn quiet" disabled={original === null || passed.value} onClick={reset}>
          {gettext("Start over")}
        </button>
      </p>
    </div>
  );
};
