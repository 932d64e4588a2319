// Numbers, amounts and booleans in their colour: YAML's grammar knows them as text.

import { Decoration, MatchDecorator, ViewPlugin } from "../../vendor/codemirror.js";
import type { EditorView, ViewUpdate } from "@codemirror/view";
import type { RangeSet } from "@codemirror/state";

const SCALAR =
  /(?<=[:,[{]\s+|[[{]|^\s*-\s+)(?:-?\d[\d.]*(?:m|[KMGTPE]i?|s|%)?|true|false|null|~)(?=\s*(?:[,}\]]|$|\s#))/g;
const matcher = new MatchDecorator({ regexp: SCALAR, decoration: Decoration.mark({ class: "y-num" }) });

export const scalars = ViewPlugin.fromClass(
  class {
    marks: RangeSet<Decoration>;
    constructor(view: EditorView) {
      this.marks = matcher.createDeco(view);
    }

    update(update: ViewUpdate) {
      this.marks = matcher.updateDeco(update, this.marks);
    }
  },
  { decorations: ({ marks }) => marks },
);
