import type { OtlpSettings, OtlpSignalSettings } from "../model/settings.ts";
import { deliverMetrics, deliverSpans } from "../otlp/deliver.ts";
import { createSender } from "../otlp/send.ts";
import type { Drain } from "./context.ts";
import { metricRows, settingsOf, spanRows } from "./deliver.ts";

/** One request as it would be made, its body as OTLP/JSON. */
export interface PreviewedRequest {
  readonly signal: "traces" | "metrics";
  readonly body: string;
}

export interface Preview {
  readonly requests: readonly PreviewedRequest[];
  /** Where they would go. A signal that is not sent has none: its bodies show what would be sent if it were. */
  readonly settings: OtlpSettings;
}

/**
 * What a delivery would send now: the same rows through the same bounds and the same encoder, up to the network. Nothing
 * is sent, nothing settled.
 *
 * @param ofSession with one, the spans of it alone, and no counters: those are of all sessions together
 */
export async function previewDelivery(drain: Drain, ofSession?: number): Promise<Preview> {
  const settings = await settingsOf(drain);
  const requests: PreviewedRequest[] = [];
  const sender = createSender(
    { ...settings, traces: asJson(settings.traces), metrics: { ...asJson(settings.metrics), ...temporalityOf(drain) } },
    {
      version: drain.version,
      transport: (signal) => ({
        async send(body) {
          requests.push({ signal, body: Buffer.from(body).toString("utf8") });
          return { status: "success", data: new Uint8Array(), contentType: "", complete: true };
        },
        shutdown() {},
      }),
    },
  );
  // Nobody is flooded by a look, and one request after the other keeps their order
  const bounds = { ...settings, concurrency: 1, maxSpansPerSecond: 1e9, maxDeliveryMs: 1e9 };
  try {
    await deliverSpans(ofSession === undefined ? spanRows(drain) : rowsOf(drain, ofSession), sender, bounds, () => {});
    if (ofSession === undefined) await deliverMetrics(await metricRows(drain, settings), sender, bounds, () => {});
  } finally {
    sender.close();
  }
  return { requests, settings };
}

// --- internal ---

const NOWHERE: OtlpSignalSettings = {
  url: "http://nowhere.invalid/",
  protocol: "http/json",
  headers: {},
  compression: "none",
  timeoutMs: 1_000,
};

/** Protobuf says the same in other bytes. */
const asJson = (signal: OtlpSignalSettings | undefined): OtlpSignalSettings => ({
  ...NOWHERE,
  ...signal,
  protocol: "http/json",
});

const temporalityOf = ({ loaded }: Drain) => ({ temporality: loaded.config.otlp.metrics.temporality });

function* rowsOf(drain: Drain, session: number) {
  const isOf = drain.db.prepare("SELECT 1 FROM spans WHERE seq = ? AND session = ?");
  for (const row of spanRows(drain)) if (isOf.get(row.seq, session) !== undefined) yield row;
}
