/** The kinds of records that are sent. */
export const OTLP_SIGNALS = ["traces", "metrics", "logs"] as const;
export type OtlpSignal = (typeof OTLP_SIGNALS)[number];

/** One signal's OTLP destination, complete. */
export interface OtlpSignalSettings {
  /** Full URL, signal path included; for gRPC only scheme, host and port count. */
  readonly url: string;
  readonly protocol: "http/protobuf" | "http/json" | "grpc";
  readonly headers: Readonly<Record<string, string>>;
  /** A command of the user or administrator, in the system's shell, that prints more headers. */
  readonly headersCommand?: string;
  /** A file with more headers. */
  readonly headersFile?: string;
  readonly compression: "gzip" | "none";
  readonly timeoutMs: number;
  /** URL of a proxy, or `direct` for a direct connection. Absent: the environment variables for proxies apply. */
  readonly proxy?: string;
  /** PEM files. */
  readonly certificatePath?: string;
  readonly clientCertificatePath?: string;
  readonly clientKeyPath?: string;
}

/** Where records are sent. A signal without settings is not exported, only stored. */
export interface OtlpSettings {
  readonly traces?: OtlpSignalSettings;
  readonly metrics?: OtlpSignalSettings & { readonly temporality: "cumulative" | "delta" };
  /** Absent also if `logs` is off. */
  readonly logs?: OtlpSignalSettings;
  /** Resource attributes of everything that is sent. */
  readonly resource: Readonly<Record<string, string>>;
  readonly maxSpansPerRequest: number;
  /** Size limit of one request's body before compression. */
  readonly maxBytesPerRequest: number;
  /** Concurrent requests. */
  readonly concurrency: number;
  /** @default no limit */
  readonly maxSpansPerSecond?: number;
  /** No further request starts after this time. @default no limit */
  readonly maxDeliveryMs?: number;
}

/** Everything but the resource. */
export type Destinations = Omit<OtlpSettings, "resource">;

/** The result of one export request. */
export type ExportOutcome =
  /** Accepted; the backend permanently rejected `rejected` of the records (partial success). */
  | { readonly status: "ok"; readonly rejected: number; readonly message?: string }
  /** Not accepted; retry, not before `afterMs` if the backend gave a delay. */
  | {
      readonly status: "retry";
      readonly afterMs?: number;
      readonly reason: string;
      readonly remedy?: string;
      /** Absent without a response. */
      readonly httpStatus?: number;
    }
  /** Too large for the backend; retry in smaller parts. */
  | { readonly status: "too-large"; readonly reason: string }
  /** Refused; retrying the same bytes may or may not help: wrong address, credentials or content. */
  | { readonly status: "refused"; readonly reason: string; readonly httpStatus?: number };
