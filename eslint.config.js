// What is checked of the browser's modules (`make lint`): mistakes that TypeScript lets pass, and how long lines are.
// No rule here needs types: those would double its time. Circular imports are found by tests/test_browser_modules.py.

import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";
import hooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import { parser } from "typescript-eslint";

const COMPONENTS = ["**/*.ts", "**/*.tsx"];

export default defineConfig(
  globalIgnores(["static/js/lib/protocol.d.ts"]), // generated
  {
    files: ["**/*.js", ...COMPONENTS],
    extends: [js.configs.recommended],
    plugins: { "@stylistic": stylistic },
    rules: {
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-undef": "off", // TypeScript knows what a browser has
      "@stylistic/max-len": ["error", 120], // of what Prettier does not break: comments, texts and templates
    },
  },
  {
    files: COMPONENTS,
    languageOptions: { parser },
    plugins: { "react-hooks": hooks },
    rules: {
      "no-unused-vars": "off", // tsc finds them, types included
      "no-redeclare": "off", // a type may have the name of a function
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
    },
  },
);
