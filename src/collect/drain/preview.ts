import type { OtlpSettings, OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import { deliverMetrics, deliverQueued } from "#send/otlp/deliver.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { sessionOfQueued } from "#store/outbox.ts";
import type { Drain } from "./context.ts";
import { allRows, deliverySettings, LOGS, metricRows, type Queue, SPANS } from "./delivery-rows.ts";

/** One request as it would be sent, its body as OTLP/JSON. */
export interface PreviewedRequest {
  readonly signal: OtlpSignal;
  readonly body: string;
}

export interface Preview {
  readonly requests: readonly PreviewedRequest[];
  /** Where they would be sent. A signal without an endpoint is absent; its bodies show what would be sent with one. */
  readonly settings: OtlpSettings;
}

/**
 * What a delivery would send now: the same rows through the same limits and the same encoder, up to the network. Nothing is sent
 * or acknowledged.
 *
 * @param ofSession only the spans and log records of this session, and no counters, which are sums over all sessions
 */
export async function previewDelivery(drain: Drain, ofSession?: number): Promise<Preview> {
  const settings = await deliverySettings(drain);
  const requests: PreviewedRequest[] = [];
  const sender = createSender(
    {
      ...settings,
      traces: asJson(settings.traces),
      logs: asJson(settings.logs),
      metrics: { ...asJson(settings.metrics), ...temporalityOf(drain) },
    },
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
  // No rate limit for a preview; one request after the other, in order
  const bounds = { ...settings, concurrency: 1, maxSpansPerSecond: 1e9, maxDeliveryMs: 1e9 };
  try {
    const deliver = <Queued extends { readonly seq: number }, Item>(queue: Queue<Queued, Item>) =>
      deliverQueued(
        rowsIn(drain, queue, ofSession),
        (records) => queue.send(sender, records),
        bounds,
        () => {},
      );
    await deliver(SPANS);
    await deliver(LOGS);
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

/** Protobuf would contain the same. */
const asJson = (signal: OtlpSignalSettings | undefined): OtlpSignalSettings => ({
  ...NOWHERE,
  ...signal,
  protocol: "http/json",
});

const temporalityOf = ({ loaded }: Drain) => ({ temporality: loaded.config.otlp.metrics.temporality });

function* rowsIn<Queued extends { readonly seq: number }, Item>(
  drain: Drain,
  queue: Queue<Queued, Item>,
  session: number | undefined,
) {
  for (const row of allRows(drain, queue)) {
    if (session === undefined || sessionOfQueued(drain.db, row.seq, queue.signal) === session) yield row;
  }
}
