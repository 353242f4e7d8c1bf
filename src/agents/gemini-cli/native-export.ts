// https://geminicli.com/docs/cli/telemetry, and the program 0.61.0, read and run 2026-11-30

import { platform } from "node:os";
import { join } from "node:path";
import type { NativeExport } from "#core/model/native-export.ts";
import { findIn, toFile } from "../shared/gemini/native-export.ts";
import { homeOf, settingsPath, systemSettingsPath } from "./settings.ts";

export default {
  find: findIn({
    prefix: "GEMINI_",
    paths: (target) => [
      settingsPath("user", target),
      settingsPath("project", target),
      systemSettingsPath(target, platform()),
    ],
    folders: (target) => [target.project, homeOf(target)].map((folder) => join(folder, ".gemini")),
  }),
  doubles: "trace",
  ...toFile((target) => settingsPath("user", target), ["logPrompts"]),
} satisfies NativeExport;
