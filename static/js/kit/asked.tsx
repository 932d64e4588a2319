import { useEffect, useState } from "preact/hooks";
import type { Report } from "../lib/protocol.js";
import { refusalOf, Socket } from "../lib/socket.ts";
import { ProgressBar, type Far } from "./progress.tsx";

type AskedProps = {
  label: string;
  /** What is said until the server reports. */
  begins?: string;
  ask: (socket: Socket, options: { signal: AbortSignal; progress: (report: Report) => void }) => Promise<unknown>;
  farOf: (report: Report) => Far;
  onAnswer: () => void;
  onRefused: (message: string, stopped: boolean) => void;
};

/** What the server computes for this page over a connection of its own, until it answers or is stopped. */
export function Asked({ label, begins = label, ask, farOf, onAnswer, onRefused }: AskedProps) {
  const [far, setFar] = useState<Far>([null, begins]);
  const [end] = useState(() => new AbortController());
  useEffect(() => {
    const socket = new Socket();
    ask(socket, { signal: end.signal, progress: (report) => setFar(farOf(report)) }).then(onAnswer, (error: unknown) =>
      onRefused(refusalOf(error).message, end.signal.aborted),
    );
    return () => socket.close();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- asked once
  }, []);
  return <ProgressBar label={label} far={far} onCancel={() => end.abort()} />;
}
