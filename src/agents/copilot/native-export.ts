// `copilot help monitoring` and the schema of managed settings in 1.0.102, read and run 2026-11-30: no setting of a user switches it on

import { platform } from "node:os";
import { dirname, join } from "node:path";
import type { NativeExport } from "#core/model/native-export.ts";
import {
  exporters,
  type Found,
  inEnvironment,
  inLayers,
  isOn,
  jsonLayers,
  readText,
} from "../shared/native/exporters.ts";
import { homeOf, policyFile } from "./places.ts";

export default {
  async find(target, read = readText) {
    const administrators = join(dirname(dirname(policyFile(platform()))), "managed-settings.json");
    const policy = inLayers(await jsonLayers([administrators], read), "telemetry");
    const user = inLayers(await jsonLayers([join(homeOf(target), "settings.json")], read), "telemetry");
    const environment = inEnvironment(target.env);
    if (policy("enabled")?.value === "false") return [];
    const file = environment("COPILOT_OTEL_FILE_EXPORTER_PATH");
    const isFile = environment("COPILOT_OTEL_EXPORTER_TYPE")?.value !== "otlp-http";
    const enabled = [policy("enabled"), environment("COPILOT_OTEL_ENABLED")].find(isOn);
    const place =
      policy("filePath") ??
      policy("endpoint") ??
      (isFile ? file : undefined) ??
      environment("OTEL_EXPORTER_OTLP_ENDPOINT") ??
      // Each of these variables switches it on
      withDefault(enabled ?? file);
    const content = [policy, user].flatMap((lookup) => CONTENT.map(lookup));
    const hasContent = [...content, environment("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")].some(isOn);
    return exporters(["traces", "metrics"], hasContent, () => place);
  },
  doubles: "metrics",
  sharedMetrics: 12,
  to: "file",
  signals: ["traces", "metrics"],
  variables: ({ file }) => ({ COPILOT_OTEL_FILE_EXPORTER_PATH: file }),
} satisfies NativeExport;

// --- internal ---

const withDefault = (found: Found | undefined): Found | undefined =>
  found === undefined ? undefined : { ...found, value: "http://localhost:4318" };

const CONTENT = [
  "captureContent",
  ...["prompts", "responses", "toolArguments", "toolOutput"].map((name) => `capture.${name}`),
];
