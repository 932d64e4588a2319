// Points of a shape, as rows of two numbers, with the line that they make.

import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import type { Reading } from "./plugins/rows.tsx";

type Point = { utilization: number; score: number };

export function Points({ value, id, read }: { value: Point[]; id: string; read: Reading }) {
  const [points, setPoints] = useState(value);
  read(() => (points.length ? points : undefined));
  const [first, last] = [points[0], points.at(-1)];
  const line = [
    ...(first ? [{ utilization: 0, score: first.score }] : []),
    ...points,
    ...(last ? [{ utilization: 100, score: last.score }] : []),
  ];
  const number = (key: keyof Point, max: number, at: number) => (
    <input
      type="number"
      class="field num"
      min={0}
      max={max}
      step={1}
      value={points[at]?.[key]}
      data-key={key}
      aria-label={key}
      onInput={({ currentTarget }) =>
        setPoints(points.map((one, i) => (i === at ? { ...one, [key]: Number(currentTarget.value) } : one)))
      }
    />
  );
  const add = () => setPoints([...points, { utilization: Math.min(100, (last?.utilization ?? -10) + 10), score: 5 }]);
  return (
    <div id={id}>
      <ol class="points">
        {points.map((_, at) => (
          <li data-row="">
            {number("utilization", 100, at)}
            <span aria-hidden="true">→</span>
            {number("score", 10, at)}
            <Button
              look="quiet square"
              icon="minus"
              aria-label="Remove this point"
              act={() => setPoints(points.filter((_, i) => i !== at))}
            />
          </li>
        ))}
      </ol>
      {points.length ? (
        <svg viewBox="0 0 104 44" class="shape-line" aria-hidden="true">
          <polyline points={line.map(({ utilization, score }) => `${2 + utilization},${42 - score * 4}`).join(" ")} />
        </svg>
      ) : null}
      <Button look="small" icon="plus" act={add}>
        Add a point
      </Button>
    </div>
  );
}
