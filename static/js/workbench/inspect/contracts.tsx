// Contracts: claims about the cluster, written with completion and checked case by case on the server; a violation
// opens as a branch at the step that decided.

import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Hosted } from "../../kit/hosted.tsx";
import { Problems } from "../../kit/problems.tsx";
import { ProgressBar, type Far } from "../../kit/progress.tsx";
import { Select } from "../../kit/select.tsx";
import { announce, debounce } from "../../lib/dom.ts";
import { Editor } from "../../editor/editor.ts";
import { progressOf } from "../../lib/progress.ts";
import type { Problem, ReadyContract, Report, Verdict } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { isRecording } from "../../lib/recorded.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import { reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";
import { VerdictRow } from "./contractverdict.tsx";

const CHECK_AFTER = 250; // ms
const READING = new Set(["sending", "reading", "checking", "assembling"]);
const FIRST = `apiVersion: podstep/v1
kind: Contract
metadata: {name: survives-a-node}
spec:
  when:
  - lose: {any: Node}
  within: 10m
  finally: pending == 0
`;

const written = new Map<string, string>(); // by source: what was typed, while the page is open

export function Contracts({ view }: { view: View }) {
  reads(view.store.scenario, view.store.known);
  const { draft, scenario, run, link, side } = view.playback.source;
  const key = [draft, scenario, run, link, side].join("/");
  return <Checked key={key} view={view} place={key} />;
}

function Checked({ view, place }: { view: View; place: string }) {
  const { socket, source } = view.playback;
  const [errors, setErrors] = useState<Problem[]>([]);
  const [verdicts, setVerdicts] = useState<Verdict[]>([]);
  const [far, setFar] = useState<Far | null>(null);
  const [said, setSaid] = useState("");
  const [ready, setReady] = useState<ReadyContract[]>([]);
  const end = useRef<AbortController | null>(null);
  const editor = useRef<Editor | null>(null);
  // Nothing is edited in a recording.
  const names = async () => (isRecording() ? "" : (await socket.call("contracts.names", { source })).text);
  editor.current ??= editorOf(written.get(place) ?? FIRST, () => typed(), names);
  const { current: own } = editor;

  const show = (found: Problem[]) => {
    setErrors(found);
    own.mark(found);
  };
  const read = useRef(
    debounce(() => {
      socket.call("contracts.read", { source, text: own.value }).then(
        (answer) => show(answer.errors),
        (error: unknown) => {
          if (!superseded(error)) setSaid(refusalOf(error).message);
        },
      );
    }, CHECK_AFTER),
  ).current;
  function typed() {
    written.set(place, own.value);
    setSaid("");
    read();
  }
  useEffect(() => {
    void own.enrich();
    if (written.has(place)) read(); // what one begins with is right
    socket.call("contracts.ready", {}).then(
      (answer) => setReady([...answer.contracts]),
      () => {
        /* none is offered, then */
      },
    );
    return () => end.current?.abort();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, of what is opened
  }, []);

  const check = async () => {
    const controller = new AbortController();
    const { signal } = controller;
    end.current = controller;
    setVerdicts([]);
    setSaid("");
    setFar([null, "Playing the cluster until it is at rest"]);
    socket.on("contracts.verdict", ({ verdict }) => setVerdicts((before) => [...before, verdict]), { signal });
    try {
      const asks = { source, text: own.value };
      const progress = (report: Report) => setFar(farOf(report));
      const answer = await socket.call("contracts.check", asks, { signal, progress });
      setVerdicts([...answer.verdicts]);
      show(answer.errors);
      announce(`${plural(answer.verdicts.length, "verdict")}, ${plural(answer.errors.length, "error")}`);
    } catch (error) {
      setSaid(signal.aborted ? "Stopped: the verdicts so far are below." : refusalOf(error).message);
    } finally {
      controller.abort();
      setFar(null);
    }
  };
  const take = (name: string) => {
    const found = ready.find((one) => one.name === name);
    if (!found) return;
    const before = own.value.trim();
    own.retype(before && before !== FIRST.trim() ? `${before}\n---\n${found.text}` : found.text);
    typed();
  };

  return (
    <>
      <section class="contracts-text">
        <h3>What has to hold</h3>
        <div class="contracts-tools">
          <Button look="primary" icon="play" disabled={far !== null || errors.length > 0} act={check}>
            Check
          </Button>
          <Select
            aria-label="Add a contract that is ready"
            options={[["", "Add one that is ready …"], ...ready.map(({ name, because }) => [name, because] as const)]}
            value=""
            onChange={take}
          />
        </div>
        <Hosted element={own.element} class="contracts-editor" />
        <div class="contracts-problems" role="status">
          <Problems errors={errors} warnings={[]} editor={own} />
        </div>
        {far ? <ProgressBar label="Checking" far={far} onCancel={() => end.current?.abort()} /> : null}
        {said ? (
          <p class="note" role="status">
            {said}
          </p>
        ) : null}
      </section>
      {verdicts.length ? (
        <section aria-label="Verdicts">
          <ul class="contracts-verdicts">
            {verdicts.map((verdict) => (
              <VerdictRow key={`${verdict.contract}/${verdict.line}`} view={view} verdict={verdict} />
            ))}
          </ul>
        </section>
      ) : null}
    </>
  );
}

function editorOf(text: string, onInput: () => void, beside: () => Promise<string>) {
  const editor = new Editor({ label: "Contracts as YAML", onInput, beside });
  editor.value = text;
  return editor;
}

function farOf(report: Report): Far {
  const { stage, done, of } = report;
  if (READING.has(stage)) return of > 1 ? progressOf(report) : [null, "Waiting for a process"];
  return [of ? done / of : null, of ? `${stage}: ${count(done)} of ${count(of)} cases` : "Playing cases"];
}
