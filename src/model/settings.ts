/** One signal's OTLP destination, complete. */
export interface OtlpSignalSettings {
  /** Full URL, signal path included. */
  readonly url: string;
  readonly protocol: "http/protobuf" | "http/json";
  readonly headers: Readonly<Record<string, string>>;
  readonly compression: "gzip" | "none";
  readonly timeoutMs: number;
  /** Files in PEM form. */
  readonly certificatePath?: string;
  readonly clientCertificatePath?: string;
  readonly clientKeyPath?: string;
}

/** Where records go. A signal without settings is not sent: the store alone is its destination. */
export interface OtlpSettings {
  readonly traces?: OtlpSignalSettings;
  readonly metrics?: OtlpSignalSettings & { readonly temporality: "cumulative" | "delta" };
  /** Resource attributes of everything that is sent. */
  readonly resource: Readonly<Record<string, string>>;
  readonly maxSpansPerRequest: number;
  /** Of one request's body before compression. */
  readonly maxBytesPerRequest: number;
  /** Requests under way at once. */
  readonly concurrency: number;
  /** @default as fast as they are taken */
  readonly maxSpansPerSecond?: number;
  /** After this no further request is begun. @default no limit */
  readonly maxDeliveryMs?: number;
}

/** What became of one request. */
export type Outcome =
  /** All taken; `rejected` of them refused for good by the backend (partial success). */
  | { readonly status: "ok"; readonly rejected: number; readonly message?: string }
  /** Not taken; try again, not before `afterMs` where the backend said so. */
  | { readonly status: "retry"; readonly afterMs?: number; readonly reason: string }
  /** The request was too large for the backend: try again in smaller parts. */
  | { readonly status: "too-large"; readonly reason: string }
  /** Refused in a way that a later try of the same bytes may or may not change: wrong address, credentials, content. */
  | { readonly status: "refused"; readonly reason: string; readonly httpStatus?: number };
