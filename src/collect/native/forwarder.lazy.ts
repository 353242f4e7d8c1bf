import { appendPath } from "#config/otlp.ts";
import type { Config } from "#config/schema.ts";
import type { Forward } from "#config/setting.ts";
import type { ExportOutcome, OtlpSignalSettings } from "#core/model/settings.ts";
import { defined } from "#kit/objects.ts";
import { readOwn } from "#kit/own-file.ts";
import { openTransport } from "#send/otlp/open-transport.ts";
import { toOutcome } from "#send/otlp/response.ts";
import type { Transport } from "#send/otlp/transport-response.ts";
import type { BodyFacts } from "./body-file.ts";

/**
 * Sends bodies as they are, over kept connections, through proxies and with certificates as our own exports.
 *
 * @returns `close` closes the connections
 */
export function forwarder(otlp: Config["otlp"], version: string) {
  const opened = new Map<string, { readonly settings: OtlpSignalSettings; readonly transport: Transport }>();
  const open = (to: Forward, { signal, encoding, isGzip }: BodyFacts) => {
    const settings = defined<OtlpSignalSettings>({
      url: appendPath(to.endpoint, `/v1/${signal}`),
      protocol: encoding === "json" ? "http/json" : "http/protobuf",
      headers: to.headers ?? {},
      compression: isGzip ? "gzip" : "none",
      timeoutMs: otlp.timeoutMs,
      proxy: otlp.proxy,
      certificatePath: otlp.certificate,
    });
    const key = JSON.stringify(settings);
    const known = opened.get(key) ?? {
      settings,
      transport: openTransport(asSent(signal), settings, { version, isCompressed: true }),
    };
    opened.set(key, known);
    return known;
  };
  const send = async (to: Forward, facts: BodyFacts, path: string): Promise<ExportOutcome> => {
    const { settings, transport } = open(to, facts);
    const response = await transport.send(readOwn(path), settings.timeoutMs);
    return toOutcome(response, asSent(facts.signal), settings);
  };
  return Object.assign(send, {
    close(): void {
      for (const { transport } of opened.values()) transport.shutdown();
    },
  });
}

// --- internal ---

/** Only for the message in an answer, which has the same form for logs. */
const asSent = (signal: BodyFacts["signal"]): "traces" | "metrics" => (signal === "traces" ? "traces" : "metrics");
