import type {
  ExportResponseFailure,
  ExportResponseRetryable,
  ExportResponseSuccess,
  IExporterTransport,
} from "@opentelemetry/otlp-exporter-base";
import type { HeaderReader } from "#config/headers.ts";
import type { OtlpSignalSettings } from "#core/model/settings.ts";

/** Status and text of a response. `message` names the address without credentials and quotes no header. */
export class SendError extends Error {
  override readonly name = "SendError";
  /** The HTTP status, or the one that corresponds to the status of gRPC, if there was a response. */
  readonly code?: number;
  /** The response body, at most 1 MiB; empty without a response. */
  readonly body: Uint8Array;
  /** What the user can do about it, if the cause is clear. */
  readonly remedy?: string;
  /** There was no connection, because the certificate's authority is unknown. */
  readonly isUntrusted: boolean;

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly httpStatus?: number;
      readonly body?: Uint8Array;
      readonly remedy?: string | undefined;
      readonly isUntrusted?: boolean | undefined;
    } = {},
  ) {
    super(message, options);
    this.isUntrusted = options.isUntrusted === true;
    if (options.remedy !== undefined) this.remedy = options.remedy;
    if (options.httpStatus !== undefined) this.code = options.httpStatus;
    this.body = options.body ?? new Uint8Array();
  }
}

/** The result of one request in the SDK's terms, with what the SDK's transport drops. */
export type TransportResponse = ResponseFacts &
  (
    | (ExportResponseSuccess & {
        readonly data: Uint8Array;
        readonly contentType: string;
        /** False if the body broke off or exceeded 1 MiB: the records were accepted, the rest is unknown. */
        readonly complete: boolean;
      })
    | (ExportResponseRetryable & { readonly error: SendError })
    | (ExportResponseFailure & { readonly error: SendError })
  );

/** From the response's headers; absent without a response. */
interface ResponseFacts {
  readonly httpStatus?: number;
  /** The time of the backend's clock in milliseconds since the epoch, with a precision of one second. Absent if unknown. */
  readonly dateMs?: number;
  /** A reused connection ended without a response: perhaps the server closed it before it got the request. */
  readonly isStale?: true;
  /** With the provided headers that were sent; absent if there are none. */
  readonly settings?: OtlpSignalSettings;
}

export interface TransportOptions {
  /** Of this program, for the user agent. */
  readonly version: string;
  /** Ends running requests, which become retryable. */
  readonly abort?: AbortSignal | undefined;
  /** Certificates to trust if the settings name none. @default those that Node trusts */
  readonly authorities?: string[];
  /** Over HTTP, bodies are given in the form that `compression` names. @default false: they are compressed before they are sent */
  readonly isCompressed?: boolean;
  /** For destinations with `headersCommand` or `headersFile`. */
  readonly readHeaders?: HeaderReader | undefined;
}

export interface Transport extends IExporterTransport {
  /** Never rejects. */
  send(data: Uint8Array, timeoutMillis: number): Promise<TransportResponse>;
}

/** A longer delay that a backend requests is shortened to this. */
export const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;
