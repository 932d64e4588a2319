import type { ComponentChildren } from "preact";
import { count as written } from "../lib/quantity.ts";

type HeadingProps = {
  text: ComponentChildren;
  count?: ComponentChildren;
  level?: 3 | 4;
  /** Its change is said by a screen reader. */
  live?: boolean;
  tabIndex?: number;
  /** What else stands in it. */
  children?: ComponentChildren;
};

/** A heading, and how many there are of what it names. */
export function Heading({ text, count, level = 3, live = false, tabIndex, children }: HeadingProps) {
  const Level = `h${level}` as const;
  return (
    <Level tabIndex={tabIndex}>
      {text}{" "}
      <small class="dim num" role={live ? "status" : undefined}>
        {typeof count === "number" ? written(count) : count}
      </small>
      {children}
    </Level>
  );
}
