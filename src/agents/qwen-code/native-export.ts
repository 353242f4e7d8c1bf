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
  to: "port",
  signals: ["traces", "metrics", "logs"],
  settings: {
    path: async (target) => settingsPath("user", target),
    add: (text, address, forward) => withEntries(JSON_EDITOR, text, entriesFor(address, forward !== undefined)),
    remove: (text, original) => withoutEntries(JSON_EDITOR, text, original, entriesFor(ANY)),
    forwardOf(text) {
      const endpoint = JSON_EDITOR.get(text, ["telemetry", "otlpEndpoint"]);
      const isHttp = JSON_EDITOR.get(text, ["telemetry", "otlpProtocol"]) === "http";
      return typeof endpoint === "string" && isHttp ? { endpoint, protocol: "http/json" } : undefined;
    },
  },
} satisfies NativeExport;

// --- internal ---

/** It has no setting for headers, so the token is in the path. */
const entriesFor = ({ url, token }: Pick<NativeAddress, "url" | "token">, isForwarded = false): readonly Entry[] => [
  [["telemetry", "enabled"], true],
  [["telemetry", "otlpEndpoint"], `${url}/${token}`],
  [["telemetry", "otlpProtocol"], "http"],
  // Content that the user sends to another backend goes on to it
  ...(isForwarded ? [] : CONTENT.map((name): Entry => [["telemetry", name], false])),
];

const CONTENT = ["logPrompts", "includeSensitiveSpanAttributes"];

const ANY = { url: "http://127.0.0.1:1/qwen-code", token: "0".repeat(43) };
