import { put } from "../lib/tables.ts";
import { Icon } from "./icon.tsx";

/** Copies a table; `act` has its text, tab separated, and the number of its rows. */
export const CopyRows = ({ act }: { act: () => [tsv: string, rows: number] }) => (
  <button
    type="button"
    class="btn quiet square"
    aria-label="Copy as tab separated text"
    title="Copy as tab separated text (Ctrl C in the table)"
    data-copy-tsv
    onClick={() => void put(...act())}
  >
    <Icon name="copy" />
  </button>
);
