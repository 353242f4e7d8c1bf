import { type HeaderReader, HeadersError } from "#config/headers.ts";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
import { SendError, type Transport, type TransportResponse } from "./transport-response.ts";

/** Whether headers are read before the first request. */
export const hasProvidedHeaders = ({ headersCommand, headersFile }: OtlpSignalSettings): boolean =>
  headersCommand !== undefined || headersFile !== undefined;

/** The setting to check if the backend refuses the credentials. */
export const credentialsSetting = ({ headersCommand, headersFile }: Partial<OtlpSignalSettings>): string =>
  headersCommand !== undefined
    ? "otlp.headersCommand"
    : headersFile !== undefined
      ? "otlp.headersFile"
      : "otlp.headers.authorization";

/**
 * A transport that sends provided headers in addition to the settings' own, over which they win. If the backend refuses the
 * credentials (401, 403), they are read again, once, and if they changed the request is sent again.
 */
export function withProvidedHeaders(
  settings: OtlpSignalSettings,
  read: HeaderReader,
  open: (settings: OtlpSignalSettings) => Transport,
): Transport {
  let current: Promise<Opened> | undefined;
  let isReadAgain = false;
  let closed = false;
  const opened: Transport[] = [];
  /** @param refused what was used until now */
  const openWith = async (refused?: Opened): Promise<Opened> => {
    const provided = await read(settings, refused !== undefined);
    if (refused !== undefined && JSON.stringify(provided) === JSON.stringify(refused.provided)) return refused;
    const used = { ...settings, headers: { ...lowerCased(settings.headers), ...provided } };
    const transport = open(used);
    opened.push(transport);
    if (closed) transport.shutdown();
    return { provided, used, transport };
  };
  const sendWith = async ({ transport, used }: Opened, data: Uint8Array, timeoutMs: number) => ({
    ...(await transport.send(data, timeoutMs)),
    settings: used,
  });
  return {
    async send(data, timeoutMs) {
      try {
        current ??= openWith();
        const first = await current;
        const response = await sendWith(first, data, timeoutMs);
        if (!isRefusal(response) || closed) return response;
        if (!isReadAgain) {
          isReadAgain = true;
          current = openWith(first);
        }
        const next = await current;
        return next === first ? response : await sendWith(next, data, timeoutMs);
      } catch (error) {
        current = undefined;
        if (!(error instanceof HeadersError)) throw error;
        return { status: "retryable", error: new SendError(error.message, { remedy: error.remedy }) };
      }
    },
    shutdown() {
      closed = true;
      for (const one of opened) one.shutdown();
    },
  };
}

// --- internal ---

interface Opened {
  readonly provided: Readonly<Record<string, string>>;
  readonly used: OtlpSignalSettings;
  readonly transport: Transport;
}

const isRefusal = ({ httpStatus }: TransportResponse): boolean => httpStatus === 401 || httpStatus === 403;

const lowerCased = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
