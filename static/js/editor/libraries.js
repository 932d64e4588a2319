// What podstep uses of CodeMirror. `.ci/browser-packages` bundles it into static/vendor/codemirror.js; pages never load
// this file.

export {
  Compartment,
  EditorSelection,
  EditorState,
  Prec,
  StateEffect,
  StateField,
  Transaction,
} from "@codemirror/state";
export {
  Decoration,
  EditorView,
  MatchDecorator,
  ViewPlugin,
  drawSelection,
  dropCursor,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  placeholder,
  showTooltip,
} from "@codemirror/view";
export {
  HighlightStyle,
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
export {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  selectedCompletion,
} from "@codemirror/autocomplete";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { lintGutter, nextDiagnostic, setDiagnostics } from "@codemirror/lint";
export { yaml } from "@codemirror/lang-yaml";
export { tags } from "@lezer/highlight";
