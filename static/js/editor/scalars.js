// Numbers, amounts and booleans in their colour: YAML's grammar knows them as text.

import { Decoration, MatchDecorator, ViewPlugin } from "../../vendor/codemirror.js";
/** @import { EditorView, ViewUpdate } from "@codemirror/view" */

const SCALAR =
  /(?<=[:,[{]\s+|[[{]|^\s*-\s+)(?:-?\d[\d.]*(?:m|[KMGTPE]i?|s|%)?|true|false|null|~)(?=\s*(?:[,}\]]|$|\s#))/g;
const matcher = new MatchDecorator({ regexp: SCALAR, decoration: Decoration.mark({ class: "y-num" }) });

export const scalars = ViewPlugin.fromClass(
  class {
    /** @param {EditorView} view */
    constructor(view) {
      this.marks = matcher.createDeco(view);
    }

    /** @param {ViewUpdate} update */
    update(update) {
      this.marks = matcher.updateDeco(update, this.marks);
    }
  },
  { decorations: ({ marks }) => marks },
);
