// What podstep uses of CodeMirror. `.ci/browser-packages` bundles it into static/vendor/codemirror.js; pages never load this file.

export { EditorState, Compartment, Prec, StateEffect, StateField, Text, Transaction } from "@codemirror/state";
export {
  EditorView, crosshairCursor, drawSelection, dropCursor, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars,
  hoverTooltip, keymap, lineNumbers, placeholder, rectangularSelection,
} from "@codemirror/view";
export {
  HighlightStyle, bracketMatching, codeFolding, foldGutter, foldKeymap, foldService, indentOnInput, indentService, indentUnit, syntaxHighlighting,
} from "@codemirror/language";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus, startCompletion } from "@codemirror/autocomplete";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { forEachDiagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
export { yaml } from "@codemirror/lang-yaml";
export { tags } from "@lezer/highlight";
