// https://geminicli.com/docs/cli/telemetry, and the program 0.61.0, read and run 2026-11-30

import { platform } from "node:os";
import { join } from "node:path";
import type { NativeAddress, NativeExport } from "#core/model/native-export.ts";
import { findIn } from "../shared/gemini/native-export.ts";
import { type Entry, JSON_EDITOR, withEntries, withoutEntries } from "../shared/native/edits.ts";
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
  to: "file",
  signals: ["traces", "metrics", "logs"],
  settings: {
    path: async (target) => settingsPath("user", target),
    add: (text, address) => withEntries(JSON_EDITOR, text, entriesFor(address)),
    remove: (text, original) => withoutEntries(JSON_EDITOR, text, original, entriesFor({ file: ANY_FILE })),
  },
} satisfies NativeExport;

// --- internal ---

/** The file wins over an address, but not over Google Cloud, for which `target` also stands. */
const entriesFor = ({ file }: Pick<NativeAddress, "file">): readonly Entry[] => [
  [["telemetry", "enabled"], true],
  [["telemetry", "outfile"], file],
  [["telemetry", "logPrompts"], false],
];

const ANY_FILE = "/native/files/gemini-cli.out";
