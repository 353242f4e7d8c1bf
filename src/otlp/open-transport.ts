import type { OtlpSignal, OtlpSignalSettings } from "../model/settings.ts";
import { createGrpcTransport } from "./grpc-transport.ts";
import { createHttpTransport } from "./http-transport.ts";
import type { Transport } from "./transport-response.ts";

/**
 * The transport for a signal's protocol. It connects with the first request.
 *
 * @param version of this program, for the user agent
 * @param abort ends running requests, which become retryable
 */
export const openTransport = (
  signal: OtlpSignal,
  settings: OtlpSignalSettings,
  version: string,
  abort?: AbortSignal,
): Transport =>
  settings.protocol === "grpc"
    ? createGrpcTransport(signal, settings, version, abort)
    : createHttpTransport(settings, version, abort);
