// https://qwenlm.github.io/qwen-code-docs/en/developers/development/telemetry, and the program 0.24.4, read and run 2026-11-30

import { platform } from "node:os";
import { join } from "node:path";
import type { NativeExport } from "#core/model/native-export.ts";
import { findIn, toFile } from "../shared/gemini/native-export.ts";
import { folderOf, settingsPath, systemSettingsPath } from "./settings.ts";

export default {
  find: findIn({
    prefix: "QWEN_",
    paths: (target) => [
      settingsPath("user", target),
      settingsPath("project", target),
      systemSettingsPath(target, platform()),
    ],
    folders: (target) => [join(target.project, ".qwen"), folderOf(target)],
    isNewer: true,
  }),
  doubles: "service",
  // Its logs contain arguments of tools, whatever is set: who has the port of a receiver that does not run must not get them
  ...toFile((target) => settingsPath("user", target), ["logPrompts", "includeSensitiveSpanAttributes"]),
} satisfies NativeExport;
