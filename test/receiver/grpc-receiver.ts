import { createPrivateKey } from "node:crypto";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { OTLP_SIGNALS, type OtlpSignal } from "#core/model/settings.ts";
import { successBody } from "./answer.ts";
import { decodeLogs, decodePoints, decodeSpans } from "./decode.ts";
import { collect, latestPoints, type Receiver, type ReceiverOptions, type Records } from "./receiver.ts";
import type { ReceivedRequest, RequestHead } from "./request.ts";

export { statusBytes } from "./rpc-status.ts";

/**
 * Starts an OTLP/gRPC receiver with grpc-js's server: the services of all signals, gzip, TLS. Requests have the path of OTLP/HTTP
 * for their signal. `behaviour` may use `grpc`, `partial`, `delayMs`, `hang`, `accepted` and `body` of a reply.
 *
 * @param options.maxBodyBytes limit for one message, unpacked; the server refuses a larger one with RESOURCE_EXHAUSTED
 */
export async function startGrpcReceiver(
  options: ReceiverOptions & { readonly services?: readonly OtlpSignal[] } = {},
): Promise<Receiver> {
  const { host = "127.0.0.1", port: wanted = 0, tls, maxBodyBytes = -1, services = OTLP_SIGNALS } = options;
  const records: Records = { spans: [], metricPoints: [], logs: [], requests: [] };
  let behaviour = options.behaviour;
  let requestCount = 0;

  const serve = async (signal: OtlpSignal, call: Call): Promise<Answer> => {
    const { request: body, metadata } = call;
    const head: RequestHead = {
      method: "POST",
      path: `/v1/${signal}`,
      headers: Object.fromEntries(Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)])),
      clientPort: Number(call.getPeer().split(":").at(-1)),
      index: requestCount++,
    };
    const reply = behaviour?.(head) ?? {};
    const { code = 0, details = "", trailers = {}, ...status } = reply.grpc ?? {};
    const accepted = reply.accepted ?? (code === 0 && reply.hang !== true);
    const spans = signal === "traces" ? decodeSpans(body, "protobuf") : [];
    const metricPoints = signal === "metrics" ? decodePoints(body, "protobuf") : [];
    const logs = signal === "logs" ? decodeLogs(body, "protobuf") : [];
    const request: ReceivedRequest = { ...head, wireBytes: body.length, body, spans, metricPoints, logs, accepted };
    records.requests.push(request);
    if (accepted) collect(records, request, reply.partial?.rejected ?? 0);
    if (reply.delayMs !== undefined) await new Promise((done) => setTimeout(done, reply.delayMs).unref());
    if (reply.hang) return undefined;
    if (code === 0) return { data: Buffer.from(reply.body ?? successBody(signal, "protobuf", reply.partial)) };
    const sent = new Metadata();
    if (status.statusDetails !== undefined) sent.set("grpc-status-details-bin", Buffer.from(status.statusDetails));
    for (const [name, value] of Object.entries(trailers)) sent.set(name, value);
    return { error: { code, details, metadata: sent } };
  };

  const server = new Server({ "grpc.max_receive_message_length": maxBodyBytes });
  for (const signal of services) {
    server.addService(SERVICES[signal], {
      export: (call: Call, answer: sendUnaryData<Buffer>) => {
        serve(signal, call).then(
          (outcome) => outcome && ("error" in outcome ? answer(outcome.error) : answer(null, outcome.data)),
          (error) => answer({ code: 3, details: String(error) }),
        );
      },
    });
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${wanted}`, credentialsOf(tls), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    url: `${tls ? "https" : "http"}://${host}:${port}`,
    port,
    ...records,
    setBehaviour(next) {
      behaviour = next;
    },
    spansById: () => new Map(records.spans.map((span) => [span.spanId, span])),
    latestPoints: () => latestPoints(records.metricPoints),
    clear() {
      for (const list of Object.values(records)) list.length = 0;
    },
    close: async () => server.forceShutdown(),
  };
}

// --- internal ---

type Call = ServerUnaryCall<Buffer, Buffer>;
type Answer =
  | { readonly data: Buffer }
  | { readonly error: { readonly code: number; readonly details: string; readonly metadata: Metadata } }
  | undefined;

const asIs = (bytes: Buffer): Buffer => bytes;

const serviceAt = (path: string): ServiceDefinition => ({
  export: {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
});

const SERVICES = {
  traces: serviceAt("/opentelemetry.proto.collector.trace.v1.TraceService/Export"),
  metrics: serviceAt("/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"),
  logs: serviceAt("/opentelemetry.proto.collector.logs.v1.LogsService/Export"),
} as const satisfies Record<OtlpSignal, ServiceDefinition>;

function credentialsOf(tls: ReceiverOptions["tls"]): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const pair = {
    cert_chain: Buffer.from(tls.cert),
    private_key: Buffer.from(createPrivateKey(tls.key).export({ type: "pkcs8", format: "pem" })),
  };
  const { clientCa } = tls;
  return ServerCredentials.createSsl(
    clientCa === undefined ? null : Buffer.from(clientCa),
    [pair],
    clientCa !== undefined,
  );
}
