// https://qwenlm.github.io/qwen-code-docs/en/developers/development/telemetry, and the program 0.24.4, read and run 2026-11-30

import { platform } from "node:os";
import { join } from "node:path";
import type { NativeAddress, NativeExport } from "#core/model/native-export.ts";
import { findIn } from "../shared/gemini/native-export.ts";
import { type Entry, JSON_EDITOR, withEntries, withoutEntries } from "../shared/native/edits.ts";
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
  to: "file",
  signals: ["traces", "metrics", "logs"],
  settings: {
    path: async (target) => settingsPath("user", target),
    add: (text, address) => withEntries(JSON_EDITOR, text, entriesFor(address)),
    remove: (text, original) => withoutEntries(JSON_EDITOR, text, original, entriesFor({ file: ANY_FILE })),
  },
} satisfies NativeExport;

// --- internal ---

/** The file wins over any address. */
const entriesFor = ({ file }: Pick<NativeAddress, "file">): readonly Entry[] => [
  [["telemetry", "enabled"], true],
  [["telemetry", "outfile"], file],
  ...["logPrompts", "includeSensitiveSpanAttributes"].map((name): Entry => [["telemetry", name], false]),
];

const ANY_FILE = "/native/files/qwen-code.out";
