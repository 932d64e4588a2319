import { count } from "../lib/quantity.ts";

type MoreProps = { of: number; shown: number; what?: string; class?: string };

/** How many there are beside those that are shown; nothing where all are. */
export const More = ({ of, shown, what = "", class: className = "dim fine" }: MoreProps) =>
  of > shown ? <p class={className}>{`and ${count(of - shown)} more${what}`}</p> : null;
