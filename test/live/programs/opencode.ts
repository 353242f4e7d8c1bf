import { OPENCODE_LIKE, openCodeExtensions, openCodeSettings } from "./opencode-like.ts";
import type { Program } from "./program.ts";

export const opencode: Program = {
  ...OPENCODE_LIKE,
  source: "opencode",
  command: "opencode",
  packages: ["opencode-ai", "@opencode-ai/plugin"],
  version: "1.18.33",
  file: "opencode-{platform}/bin/opencode",
  environment: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  }),
  settings: ({ url }) => ({ ".config/opencode/opencode.json": openCodeSettings(url) }),
  extensions: openCodeExtensions("opencode"),
  // it installs this package there at its first start
  packagesAt: ".config/opencode",
};
