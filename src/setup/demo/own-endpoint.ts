import type { Context } from "#config/context.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { DemoFolders } from "./places.ts";
import { drainOnce } from "./replay.ts";

/** Where the user's environment sends OTLP, without path or credentials; `undefined` if no variable is set. */
export function ownEndpoint(env: Context["env"]): string | undefined {
  const value = ENDPOINTS.map((name) => env[name]).find((text) => text !== undefined && text.trim() !== "");
  if (value === undefined) return undefined;
  return URL.canParse(value) ? new URL(value).origin : printable(value);
}

/**
 * Drains the copied state into the user's endpoint, because a drain does not send again what another backend has accepted.
 *
 * @returns whether the endpoint accepted everything, and lines to print
 */
export async function deliverToUser(endpoint: string, places: DemoFolders, context: Context) {
  const theirs = Object.entries(context.env).filter(([name]) => name.startsWith("OTEL_"));
  const again = { ...places, stateDir: places.secondStateDir };
  const mark = context.env["OTEL_RESOURCE_ATTRIBUTES"];
  const report = await drainOnce(again, context, {
    ...Object.fromEntries(theirs),
    OTEL_RESOURCE_ATTRIBUTES: [mark, "deployment.environment.name=openhook-demo"].filter(Boolean).join(","),
  });
  const isAccepted = report.problems.length === 0 && report.waiting === 0 && report.rejected === 0;
  const lines = [
    "",
    isAccepted
      ? `${endpoint} accepted the same ${plural(report.sent, "span")} and the metrics, with deployment.environment.name = openhook-demo.`
      : `${endpoint} accepted only ${report.sent} of ${plural(report.spans, "span")}.`,
    ...report.problems.map((problem) => `! ${printable(problem)}`),
  ];
  return { isAccepted, lines };
}

// --- internal ---

const ENDPOINTS = ["", "TRACES_", "METRICS_"].map((signal) => `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`);
