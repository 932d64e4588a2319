import type { ComponentChildren } from "preact";
import { count as written } from "../lib/quantity.js";

type HeadingProps = { text: ComponentChildren; count?: number | string; level?: 3 | 4 };

/** A heading, and how many there are of what it names. */
export function Heading({ text, count, level = 3 }: HeadingProps) {
  const Level = `h${level}` as const;
  return (
    <Level>
      {text} <small class="dim num">{typeof count === "number" ? written(count) : count}</small>
    </Level>
  );
}
