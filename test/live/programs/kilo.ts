import { OPENCODE_LIKE, openCodeExtensions, openCodeSettings } from "./opencode-like.ts";
import type { Program } from "./program.ts";

export const kilo: Program = {
  ...OPENCODE_LIKE,
  source: "kilo",
  command: "kilo",
  packages: ["@kilocode/cli"],
  version: "7.7.7",
  file: "@kilocode/cli-{platform}/bin/kilo",
  environment: () => ({
    KILO_DISABLE_AUTOUPDATE: "1",
    KILO_DISABLE_MODELS_FETCH: "1",
    KILO_DISABLE_LSP_DOWNLOAD: "1",
    KILO_DISABLE_SESSION_INGEST: "1",
    KILO_DISABLE_SHARE: "1",
    KILO_TELEMETRY_LEVEL: "off",
  }),
  settings: ({ url }) => ({ ".config/kilo/kilo.json": openCodeSettings(url) }),
  extensions: openCodeExtensions("kilo"),
};
