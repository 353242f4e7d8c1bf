import { dirname, join } from "node:path";
import type { InstallTarget } from "#core/model/installer.ts";
import type { NativeExport, NativeExporter, ReadText } from "#core/model/native-export.ts";
import { type Entry, JSON_EDITOR, withEntries, withoutEntries } from "../native/edits.ts";
import {
  exporters,
  type Found,
  firstOf,
  inEnvFiles,
  inEnvironment,
  inLayers,
  isOn,
  jsonLayers,
  readText,
} from "../native/exporters.ts";

/** What differs between Gemini CLI and the programs that were built from it. */
interface Variant {
  /** Of its variables, with the underscore. */
  readonly prefix: string;
  /** Settings in ascending precedence. */
  readonly paths: (target: InstallTarget) => readonly string[];
  /** Its folder in the home, and that in projects. */
  readonly folders: (target: InstallTarget) => readonly string[];
  /** Whether its settings can have variables, and signals addresses of their own. */
  readonly isNewer?: true;
}

/**
 * Settings of these agents that let them write to a file of ours. It wins over every address.
 *
 * @param content settings that would add content, to be switched off
 */
export const toFile = (
  path: (target: InstallTarget) => string | Promise<string>,
  content: readonly string[],
): Pick<NativeExport, "to" | "signals" | "settings"> => {
  const entriesFor = (file: string): readonly Entry[] => [
    [["telemetry", "enabled"], true],
    [["telemetry", "outfile"], file],
    ...content.map((name): Entry => [["telemetry", name], false]),
  ];
  return {
    to: "file",
    signals: ["traces", "metrics", "logs"],
    settings: {
      path: async (target) => path(target),
      add: (text, { file }) => withEntries(JSON_EDITOR, text, entriesFor(file)),
      remove: (text, original) => withoutEntries(JSON_EDITOR, text, original, entriesFor(ANY_FILE)),
    },
  };
};

/** Which exporters are on: `find` of these agents. Variables win over settings. */
export const findIn =
  ({ prefix, paths, folders, isNewer }: Variant): NativeExport["find"] =>
  async (target, read: ReadText = readText): Promise<readonly NativeExporter[]> => {
    const all = paths(target);
    const system = all.at(-1) ?? "";
    const layers = await jsonLayers([join(dirname(system), "system-defaults.json"), ...all], read);
    const files = folders(target).flatMap((folder) => [join(folder, ".env"), join(dirname(folder), ".env")]);
    const variable = firstOf(
      inEnvironment(target.env),
      await inEnvFiles(files, read),
      ...(isNewer === true ? [inLayers(layers, "env")] : []),
    );
    const setting = inLayers(layers, "telemetry");
    const telemetry = (name: string, member: string): Found | undefined =>
      variable(`${prefix}TELEMETRY_${name}`) ?? setting(member);
    const enabled = telemetry("ENABLED", "enabled");
    if (enabled === undefined || !isOn(enabled)) return [];
    const file = telemetry("OUTFILE", "outfile");
    const goal = telemetry("TARGET", "target");
    const base = variable(`${prefix}TELEMETRY_OTLP_ENDPOINT`);
    const prompts = telemetry("LOG_PROMPTS", "logPrompts");
    const hasContent =
      prompts === undefined ||
      isOn(prompts) ||
      isOn(telemetry("INCLUDE_SENSITIVE_SPAN_ATTRIBUTES", "includeSensitiveSpanAttributes"));
    return exporters(["traces", "metrics", "logs"], hasContent, (signal) => {
      if (isNewer !== true && goal?.value === "gcp" && !isOn(telemetry("USE_COLLECTOR", "useCollector"))) {
        return { ...goal, value: "Google Cloud" };
      }
      if (file !== undefined) return file;
      const own = `${signal[0]?.toUpperCase()}${signal.slice(1)}`;
      const ofSignal =
        isNewer === true
          ? (variable(`${prefix}TELEMETRY_OTLP_${signal.toUpperCase()}_ENDPOINT`) ??
            variable(`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`) ??
            setting(`otlp${own}Endpoint`))
          : undefined;
      const general = base ?? variable("OTEL_EXPORTER_OTLP_ENDPOINT") ?? setting("otlpEndpoint");
      return ofSignal ?? general ?? { ...enabled, value: "http://localhost:4317" };
    });
  };

// --- internal ---

/** What a file of ours looks like, to recognise it in settings. */
const ANY_FILE = "/native/files/agent.out";
