// https://developers.openai.com/codex/config-advanced (otel), and the program 0.171.0, read and run 2026-11-30; policies were not run

import { platform } from "node:os";
import { dirname, join } from "node:path";
import type { NativeAddress, NativeExport, NativeForward } from "#core/model/native-export.ts";
import { type Entry, withEntries, withoutEntries } from "../shared/native/edits.ts";
import { exporters, readText } from "../shared/native/exporters.ts";
import { isTable, type Statement, valueAt } from "../shared/settings/toml.ts";
import { statementsOf } from "../shared/settings/toml-statements.ts";
import { requirementsPath } from "./managed.ts";
import { configPath } from "./places.ts";
import { TOML_EDITOR } from "./toml-editor.ts";

export default {
  async find(target, read = readText) {
    const requirements = requirementsPath(platform());
    const policies = ["config.toml", "managed_config.toml"].map((name) => join(dirname(requirements), name));
    const [system = "", managed = ""] = policies;
    // Ascending precedence. A project's configuration cannot set it
    const files = await Promise.all(
      [system, await configPath(target), managed, requirements].map(async (path) => ({
        path,
        statements: statementsIn((await read(path)) ?? ""),
      })),
    );
    const hasContent = ["log_user_prompt", "log_agent_responses", "log_guardian_assessments"].some(
      (name) => files.map(({ statements }) => valueAt(statements, ["otel", name])).findLast(isSet) === true,
    );
    return exporters(SIGNALS, hasContent, (signal) => {
      const key = KEYS[signal];
      const file = files.findLast(({ statements }) => isGiven(statements, key));
      if (file === undefined) return undefined;
      const { path, statements } = file;
      const endpoint = KINDS.map((kind) => valueAt(statements, ["otel", key, kind, "endpoint"])).find(isSet);
      return typeof endpoint === "string" ? { value: endpoint, where: `otel.${key} in ${path}` } : undefined;
    });
  },
  doubles: "trace",
  to: "port",
  // Its logs contain arguments and outputs of tools, whatever is set: without a receiver, who has its port must not get them
  signals: ["traces"],
  settings: {
    path: configPath,
    add: (text, address, forward) => withEntries(TOML_EDITOR, text, entriesFor(address, forward)),
    remove: (text, original) => withoutEntries(TOML_EDITOR, text, original, OURS),
    forwardOf,
  },
} satisfies NativeExport;

// --- internal ---

const SIGNALS = ["traces", "metrics", "logs"] as const;
const KEYS = { logs: "exporter", traces: "trace_exporter", metrics: "metrics_exporter" } as const;
const KINDS = ["otlp-http", "otlp-grpc"] as const;

const isSet = (value: unknown): boolean => value !== undefined;

function statementsIn(text: string): readonly Statement[] {
  try {
    return statementsOf(text);
  } catch {
    return [];
  }
}

/** Whether a file says something about this exporter, `none` included. */
const isGiven = (statements: readonly Statement[], key: string): boolean =>
  valueAt(statements, ["otel", key]) !== undefined ||
  KINDS.some((kind) => valueAt(statements, ["otel", key, kind, "endpoint"]) !== undefined);

function entriesFor(
  { url, token }: Pick<NativeAddress, "url" | "token">,
  forward?: Pick<NativeForward, "protocol">,
): readonly Entry[] {
  const protocol = forward?.protocol === "http/protobuf" ? "binary" : "json";
  const headers = { authorization: `Bearer ${token}` };
  return [
    ...signalsOf(forward).map((signal): Entry => {
      const exporter = { "otlp-http": { endpoint: `${url}/v1/${signal}`, protocol, headers } };
      return [["otel", KEYS[signal]], exporter];
    }),
    ...(forward === undefined ? [[["otel", "log_user_prompt"], false] as const] : []),
  ];
}

/** What the user sends to another backend goes on to it. */
const signalsOf = (forward: unknown): readonly ("logs" | "traces")[] =>
  forward === undefined ? ["traces"] : ["logs", "traces"];

const ANY = { url: "http://127.0.0.1:1/codex", token: "0".repeat(43) };
const OURS = [...entriesFor(ANY), ...entriesFor(ANY, { protocol: "http/protobuf" })];

/** Only if the exporters of both signals lead to one place. */
function forwardOf(text: string): NativeForward | undefined {
  const statements = statementsIn(text);
  const found = (["logs", "traces"] as const).flatMap((signal): readonly NativeForward[] => {
    const at = ["otel", KEYS[signal]];
    if (valueAt(statements, at) === undefined || valueAt(statements, at) === "none") return [];
    const [endpoint, protocol, headers] = ["endpoint", "protocol", "headers"].map((name) =>
      valueAt(statements, [...at, "otlp-http", name]),
    );
    const base = typeof endpoint === "string" && endpoint.endsWith(`/v1/${signal}`);
    if (!base || (protocol !== "json" && protocol !== "binary")) return [{ endpoint: "" }];
    const given = isTable(headers) ? Object.entries(headers).map(([name, value]) => [name, String(value)]) : [];
    return [
      {
        endpoint: endpoint.slice(0, -`/v1/${signal}`.length),
        headers: Object.fromEntries(given),
        protocol: protocol === "json" ? "http/json" : "http/protobuf",
      },
    ];
  });
  const [first] = found;
  return found.every((one) => one.endpoint !== "" && JSON.stringify(one) === JSON.stringify(first)) ? first : undefined;
}
