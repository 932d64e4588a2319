// What is checked of the browser modules (`make lint`): mistakes, and how long lines are.
// Circular imports are found by tests/test_browser_modules.py.

import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";
import { defineConfig } from "eslint/config";

export default defineConfig(js.configs.recommended, {
  plugins: { "@stylistic": stylistic },
  rules: {
    "no-unused-vars": ["error", { ignoreRestSiblings: true }],
    "no-undef": "off", // TypeScript knows what a browser has
    "@stylistic/max-len": ["error", 120], // of what Prettier does not break: comments, texts and templates
  },
});
