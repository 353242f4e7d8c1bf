import { type HeaderReader, HeadersError } from "#config/headers.ts";
import type { OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import { followConnections } from "../network/followed-connections.ts";
import { systemAuthorities } from "../network/tls-files.ts";
import { createGrpcTransport } from "./grpc-transport.ts";
import { createHttpTransport } from "./http-transport.ts";
import { credentialsSetting, hasProvidedHeaders, withProvidedHeaders } from "./provided-headers.ts";
import type { Transport, TransportOptions } from "./transport-response.ts";

/**
 * The transport for a signal's protocol. It connects with the first request. If Node does not know the authority of the backend's or
 * proxy's certificate, and the settings name none, the request is sent again with the operating system's authorities. Headers that a
 * command or file provides are read before the first request.
 */
export function openTransport(signal: OtlpSignal, settings: OtlpSignalSettings, options: TransportOptions): Transport {
  if (!hasProvidedHeaders(settings)) return openTrusting(signal, settings, options);
  const read: HeaderReader = options.readHeaders ?? unread;
  return withProvidedHeaders(settings, read, (used) => openTrusting(signal, used, options));
}

// --- internal ---

const unread: HeaderReader = async (settings) => {
  throw new HeadersError(`nothing reads ${credentialsSetting(settings)} here`, "report this");
};

function openTrusting(signal: OtlpSignal, settings: OtlpSignalSettings, options: TransportOptions): Transport {
  const closeConnections = followConnections();
  let transport = create(signal, settings, options);
  const opened = [transport];
  let isExtended = settings.certificatePath !== undefined;
  let closed = false;
  return {
    async send(data, timeoutMs) {
      const beganMs = performance.now();
      const used = transport;
      const response = await used.send(data, timeoutMs);
      if (response.status !== "retryable" || !response.error.isUntrusted || closed) return response;
      if (!isExtended) {
        isExtended = true;
        const authorities = systemAuthorities();
        if (authorities !== undefined) {
          transport = create(signal, settings, { ...options, authorities });
          opened.push(transport);
        }
      }
      if (transport === used) return response;
      return transport.send(data, Math.max(1, timeoutMs - (performance.now() - beganMs)));
    },
    shutdown() {
      closed = true;
      for (const one of opened) one.shutdown();
      closeConnections();
    },
  };
}

const create = (signal: OtlpSignal, settings: OtlpSignalSettings, options: TransportOptions): Transport =>
  settings.protocol === "grpc"
    ? createGrpcTransport(signal, settings, options)
    : createHttpTransport(settings, options);
