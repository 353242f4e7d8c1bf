import { create, type DescMessage, type MessageShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import type { OtlpSignal } from "#core/model/settings.ts";
import type { Encoding } from "./decode.ts";
import { RpcStatusSchema } from "./proto/common.ts";
import { LogsResponseSchema } from "./proto/logs.ts";
import { MetricsResponseSchema } from "./proto/metrics.ts";
import { TraceResponseSchema } from "./proto/trace.ts";

/** The content of a partial success. */
export interface PartialSuccess {
  /** Records that the backend rejects permanently. */
  readonly rejected: number;
  readonly message?: string;
}

export const CONTENT_TYPES = { protobuf: "application/x-protobuf", json: "application/json" } as const satisfies Record<
  Encoding,
  string
>;

/** The body of a 200: empty for full success, as the specification requires. */
export function successBody(signal: OtlpSignal, encoding: Encoding, partial: PartialSuccess | undefined): Uint8Array {
  const rejected = BigInt(partial?.rejected ?? 0);
  const errorMessage = partial?.message ?? "";
  if (signal === "traces") {
    const partialSuccess = partial && { rejectedSpans: rejected, errorMessage };
    return encode(TraceResponseSchema, create(TraceResponseSchema, partialSuccess ? { partialSuccess } : {}), encoding);
  }
  if (signal === "logs") {
    const partialSuccess = partial && { rejectedLogRecords: rejected, errorMessage };
    return encode(LogsResponseSchema, create(LogsResponseSchema, partialSuccess ? { partialSuccess } : {}), encoding);
  }
  const partialSuccess = partial && { rejectedDataPoints: rejected, errorMessage };
  return encode(
    MetricsResponseSchema,
    create(MetricsResponseSchema, partialSuccess ? { partialSuccess } : {}),
    encoding,
  );
}

/** The body of an error response: google.rpc.Status with the code INVALID_ARGUMENT. */
export function errorBody(message: string, encoding: Encoding): Uint8Array {
  return encode(RpcStatusSchema, create(RpcStatusSchema, { code: 3, message }), encoding);
}

// --- internal ---

function encode<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>, encoding: Encoding): Uint8Array {
  return encoding === "protobuf" ? toBinary(schema, message) : Buffer.from(toJsonString(schema, message));
}
