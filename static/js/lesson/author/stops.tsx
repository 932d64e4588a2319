import { announce, toast } from "../../lib/dom.ts";
import { Icon } from "../icon.tsx";
import { Settling } from "./fields.tsx";
import { kindOf, lesson, open, problems, send, undo, type AuthoredStop } from "./state.ts";

const KINDS: Record<string, string> = { look: "look", predict: "predict", find: "find", explain: "explain" };

const titleOf = ({ head, key }: AuthoredStop) => (typeof head.title === "string" && head.title) || key;

/** Move a stop by a place; the keys Alt+Up and Alt+Down do as well. */
async function move(key: string, by: number) {
  const was = lesson.value.stops.map((one) => one.key);
  const at = was.indexOf(key);
  const to = at + by;
  if (to < 0 || to >= was.length) return;
  const now = [...was];
  now.splice(to, 0, ...now.splice(at, 1));
  if (await send({ kind: "order", was, now })) {
    announce(`Stop ${to + 1} of ${was.length}`);
    document.querySelector<HTMLElement>(`[data-open-stop="${CSS.escape(key)}"]`)?.focus();
  }
}

async function remove(stop: AuthoredStop) {
  const title = titleOf(stop);
  if (!(await send({ kind: "remove", stop: stop.key }))) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn small";
  button.textContent = "Undo";
  const note = toast(`“${title}” is removed.`, { ms: 12_000 });
  button.addEventListener("click", () => {
    note?.remove();
    void undo();
  });
  note?.append(button);
}

/** The stops in order, and before them what is said of the whole lesson. */
export function Stops() {
  const { stops } = lesson.value;
  const wrong = (file: string) => problems.value?.filter((one) => one.file === file).length ?? 0;
  return (
    <nav class="author-stops" aria-label="Stops">
      <button
        type="button"
        class="author-open"
        aria-current={open.value === "" ? "true" : undefined}
        onClick={() => (open.value = "")}
      >
        <span class="author-open-title">About the lesson</span>
        <Count number={wrong("lesson.yaml") + wrong("notes.md")} />
      </button>
      <ol>
        {stops.map((stop, place) => (
          <li key={stop.key}>
            <button
              type="button"
              class="author-open"
              data-open-stop={stop.key}
              aria-current={open.value === stop.key ? "true" : undefined}
              aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
              onClick={() => (open.value = stop.key)}
              onKeyDown={(event) => {
                if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
                event.preventDefault();
                void move(stop.key, event.key === "ArrowUp" ? -1 : 1);
              }}
            >
              <span class="num dim">{place + 1}</span>
              <span class="author-open-title">{titleOf(stop)}</span>
              <span class="pill">{KINDS[kindOf(stop)] ?? kindOf(stop)}</span>
              <Count number={wrong(stop.file)} />
            </button>
            {open.value === stop.key && (
              <span class="author-stop-acts">
                <Act icon="left" turned label="Move up" off={place === 0} run={() => void move(stop.key, -1)} />
                <Act
                  icon="right"
                  turned
                  label="Move down"
                  off={place === stops.length - 1}
                  run={() => void move(stop.key, 1)}
                />
                <Act icon="close" label="Remove" run={() => void remove(stop)} />
              </span>
            )}
          </li>
        ))}
      </ol>
      <Settling place="order" />
      {!stops.length && (
        <p class="dim">
          No stop yet. Open a scenario in the workbench, go to a moment, and choose “Add this view as a stop” in its
          command palette.
        </p>
      )}
    </nav>
  );
}

const Count = ({ number }: { number: number }) =>
  number ? (
    <span class="pill fail">
      {number}
      <span class="sr">{number === 1 ? " problem" : " problems"}</span>
    </span>
  ) : null;

type ActProps = { icon: string; label: string; run: () => void; off?: boolean; turned?: boolean };

const Act = ({ icon, label, run, off = false, turned = false }: ActProps) => (
  <button type="button" class="btn quiet square" aria-label={label} title={label} disabled={off} onClick={run}>
    <span class={turned ? "turn-up" : undefined}>
      <Icon name={icon} />
    </span>
  </button>
);
