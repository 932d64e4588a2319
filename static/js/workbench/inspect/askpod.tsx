// How many of a pod that is pasted fit, and which nodes to add for more.

import { useState } from "preact/hooks";
import { TextField } from "../../kit/field.tsx";
import type { AuditRow } from "../../lib/protocol.js";
import { refusalOf } from "../../lib/socket.ts";
import type { View } from "../view/view.ts";
import { Row } from "./askrow.tsx";

const EXAMPLE = `apiVersion: v1
kind: Pod
metadata: {name: batch}
spec:
  containers:
  - name: main
    image: batch
    resources: {requests: {cpu: 500m, memory: 1Gi}}
`;

export function Fits({ view }: { view: View }) {
  const [text, setText] = useState(EXAMPLE);
  const [wanted, setWanted] = useState("");
  const [busy, setBusy] = useState(false);
  const [row, setRow] = useState<AuditRow | null>(null);
  const [said, setSaid] = useState("");
  const isNumber = /^\d{0,4}$/.test(wanted);
  const ask = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!isNumber || busy) return;
    setBusy(true);
    setSaid("");
    const { socket, source } = view.playback;
    try {
      setRow(await socket.call("audit.capacity", { source, text, replicas: Number(wanted) }));
    } catch (error) {
      const { message, body } = refusalOf(error);
      setRow(null);
      setSaid(body?.errors?.[0] ? `Line ${body.errors[0].line ?? 1}: ${body.errors[0].message}` : message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <details class="ask-pod">
      <summary>How many of a pod fit?</summary>
      <form onSubmit={ask}>
        <label>
          A Pod, or a workload with a pod template
          <textarea
            class="field mono"
            rows={9}
            spellcheck={false}
            autocapitalize="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <TextField
          label="How many are wanted"
          name="replicas"
          inputMode="numeric"
          placeholder="0 to 2,000"
          value={wanted}
          onInput={setWanted}
          hint="Then it says which nodes to add."
          error={isNumber ? undefined : "A whole number, such as 20"}
        />
        <button class="btn primary" disabled={busy}>
          {busy ? "Counting …" : "Count"}
        </button>
      </form>
      {said ? (
        <p class="note error" role="alert">
          {said}
        </p>
      ) : null}
      <ul role="status">{row ? <Row key={row.sentence} view={view} row={row} /> : null}</ul>
    </details>
  );
}
