// The condition that the scheduler of a dumped cluster recorded for a pending pod, beside the answer here.

import { Icon } from "../../kit/icon.tsx";
import type { RecordedAnswer } from "../../lib/protocol.js";

/** The recorded condition, what differs here, and the likely causes. */
export const Recorded = ({ answer: { reason, message, agrees, differences, causes } }: { answer: RecordedAnswer }) => (
  <>
    <q class="recorded-message">{message || reason}</q>
    {agrees ? (
      <p class="pass-text">
        <Icon name="check" /> The simulation gives the same reasons.
      </p>
    ) : (
      <p>
        <b>Differs: </b>
        {`${differences.join("; ")}.`}
      </p>
    )}
    {causes.map((text) => (
      <p class="dim">
        <b>Likely cause: </b>
        {`${text}.`}
      </p>
    ))}
  </>
);

/** The same as a quotation of its own; nothing where nothing is recorded. */
export const RecordedFigure = ({ answer }: { answer: RecordedAnswer | null | undefined }) =>
  answer ? (
    <figure class="describe recorded">
      <figcaption>Recorded by the cluster that was dumped</figcaption>
      <Recorded answer={answer} />
    </figure>
  ) : null;
