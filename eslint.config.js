// What is checked of the browser modules (`make lint`): mistakes, circular imports, and how long lines are.

import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";
import { defineConfig } from "eslint/config";
import { importX } from "eslint-plugin-import-x";

export default defineConfig(js.configs.recommended, {
  plugins: { "@stylistic": stylistic, "import-x": importX },
  rules: {
    "no-unused-vars": ["error", { ignoreRestSiblings: true }],
    "no-undef": "off", // TypeScript knows what a browser has
    "import-x/no-cycle": "error",
    "@stylistic/max-len": ["error", 120], // of what Prettier does not break: comments, texts and templates
  },
});
