// documentation/docs/guides/environment-variables.md of github.com/block/goose, and the program 1.52.0, read and run 2026-11-30.
// Its settings have no headers, so the token is in the path. It passes the address on to everything that it starts

import type { NativeAddress, NativeExport } from "#core/model/native-export.ts";
import { type Editor, type Entry, withEntries, withoutEntries } from "../shared/native/edits.ts";
import { exporters, firstOf, inEnvironment, isOn, otlpEndpoint, readText } from "../shared/native/exporters.ts";
import { SettingsError } from "../shared/settings/settings.ts";
import { configPathOf } from "./installer.ts";

export default {
  async find(target, read = readText) {
    const environment = inEnvironment(target.env);
    if (isOn(environment("OTEL_SDK_DISABLED"))) return [];
    const path = configPathOf(target);
    const value = YAML_EDITOR.get((await read(path)) ?? "", [KEY]);
    const lookup = firstOf(environment, (name) =>
      name === "OTEL_EXPORTER_OTLP_ENDPOINT" && typeof value === "string"
        ? { value, where: `${KEY} in ${path}` }
        : undefined,
    );
    const hasContent = isOn(environment("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"));
    return exporters(SIGNALS, hasContent, (signal) => {
      const kind = environment(`OTEL_${signal.toUpperCase()}_EXPORTER`)?.value;
      return kind === "none" || kind === "console" ? undefined : otlpEndpoint(lookup, signal);
    });
  },
  doubles: "service",
  to: "port",
  signals: ["traces", "metrics", "logs"],
  settings: {
    path: async (target) => configPathOf(target),
    add: (text, address) => withEntries(YAML_EDITOR, text, entriesFor(address)),
    remove: (text, original) => withoutEntries(YAML_EDITOR, text, original, entriesFor(ANY)),
    // It sends HTTP with protobuf unless a variable chooses something else
    forwardOf(text) {
      const endpoint = YAML_EDITOR.get(text, [KEY]);
      return typeof endpoint === "string" ? { endpoint, protocol: "http/protobuf" } : undefined;
    },
  },
} satisfies NativeExport;

// --- internal ---

const SIGNALS = ["traces", "metrics", "logs"] as const;
const KEY = "otel_exporter_otlp_endpoint";

const entriesFor = ({ url, token }: Pick<NativeAddress, "url" | "token">): readonly Entry[] => [
  [[KEY], `${url}/${token}`],
];

const ANY = { url: "http://127.0.0.1:1/goose", token: "0".repeat(43) };

/** One text at the top level of YAML: its line is replaced, appended or removed. */
const YAML_EDITOR: Editor = {
  get(text, [key = ""]) {
    const value = lineOf(text, key)?.[2]
      ?.replace(/(^|\s)#.*$/, "")
      .trim();
    return value === undefined || value === "" ? undefined : value.replace(/^(["'])(.*)\1$/, "$2");
  },
  set(text, [key = ""], value) {
    const line = `${key}: ${String(value)}`;
    const known = lineOf(text, key);
    if (known !== null) return text.slice(0, known.index) + line + text.slice(known.index + known[1].length);
    if (/^\s*[{[]|^(?:---|\.\.\.)\s*$(?=[\s\S]*^(?:---|\.\.\.)\s*$)/m.test(text.replace(/^\s*(?:#.*)?$/gm, ""))) {
      throw new SettingsError("it is not a plain YAML mapping", `add this line by hand: ${key}: …`, 1, 1);
    }
    const eol = /\r?\n/.exec(text)?.[0] ?? "\n";
    return text === "" || text.endsWith("\n") ? `${text}${line}${eol}` : `${text}${eol}${line}`;
  },
  unset(text, [key = ""]) {
    const known = lineOf(text, key);
    if (known === null) return text;
    const end = known.index + known[1].length;
    const rest = text.slice(end).replace(/^\r?\n/, "");
    const before = text.slice(0, known.index);
    return end === text.length ? before.replace(/\r?\n$/, "") : before + rest;
  },
  isEmpty: (text) => text.trim() === "",
  empty: "",
};

type Line = RegExpExecArray & { readonly 1: string };

const lineOf = (text: string, key: string): Line | null =>
  new RegExp(`^(${key}:(?:[ \\t]+([^\\r\\n]*))?)(?=\\r?$)`, "m").exec(text) as Line | null;
