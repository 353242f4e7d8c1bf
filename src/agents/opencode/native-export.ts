// The program 1.18.33, read and run 2026-11-30: only variables switch its telemetry on

import { isAbsolute, join } from "node:path";
import type { NativeExport } from "#core/model/native-export.ts";
import { exporters, inEnvironment, inLayers, isOn, jsonLayers, readText } from "../shared/native/exporters.ts";

export default {
  async find({ home, project, env }, read = readText) {
    const endpoint = inEnvironment(env)("OTEL_EXPORTER_OTLP_ENDPOINT");
    if (endpoint === undefined) return [];
    const moved = env["XDG_CONFIG_HOME"];
    const folder = join(moved !== undefined && isAbsolute(moved) ? moved : join(home, ".config"), "opencode");
    const files = [folder, project].flatMap((place) =>
      ["opencode.json", "opencode.jsonc"].map((name) => join(place, name)),
    );
    // With this switch, spans of model calls have prompts and answers
    const hasContent = isOn(inLayers(await jsonLayers(files, read), "experimental")("openTelemetry"));
    return exporters(["traces", "logs"], hasContent, () => endpoint);
  },
  doubles: "service",
  to: "port",
  always: "command lines",
  signals: ["traces", "logs"],
  // Its children inherit both, so the token is in the path: as a header it would be sent to other addresses
  variables: ({ url, token }) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/${token}` }),
} satisfies NativeExport;
