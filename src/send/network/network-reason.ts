import { shownUrl } from "./shown-url.ts";
import type { TlsFiles } from "./tls-files.ts";
import { type CertificateFact, certificatesIn, validity } from "./tls-files.ts";

/** Why there was no response, and what the user can do about it if the cause is clear. */
export interface NetworkFailure {
  /** In plain words, e.g. "connection refused by http://127.0.0.1:4318/v1/traces". */
  readonly reason: string;
  /** Names the setting that fixes it. Absent: the backend may be down, or the address wrong. */
  readonly remedy?: string;
  /** The certificate's authority is unknown: another list of authorities may have it. */
  readonly isUntrusted?: true;
}

/** What was sent, and with which PEM files. */
interface Attempt {
  /** @default "http" */
  readonly over?: "http" | "grpc";
  /** Empty without TLS. @default none */
  readonly tls?: TlsFiles;
}

/**
 * Explains an error of a request without a response. Derived from the error's code, the number of a TLS alert, and the first bytes of
 * a response that is not HTTP; the error's text is not passed on.
 *
 * @param url the full address; shown without credentials
 */
export function networkFailure(error: Error, url: string, { over = "http", tls = {} }: Attempt = {}): NetworkFailure {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const shown = shownUrl(url);
  if (isHttp2(error) || code === NO_COMMON_PROTOCOL) {
    return { reason: `${shown} responds in HTTP/2 only, as gRPC receivers do`, remedy: USE_HTTP_PORT };
  }
  const alert = alertIn(error);
  if (alert !== undefined) return failureByAlert(alert, shown, tls);
  const client = certificateIn(tls.cert);
  if (BROKEN.has(code) && client?.problem !== undefined) {
    // In TLS 1.3 a client can send before the server refuses its certificate
    return { reason: `${reasonOf(code, shown)}; the client certificate ${client.problem}`, remedy: renewal(client) };
  }
  const authority = code === "CERT_HAS_EXPIRED" ? certificateIn(tls.ca) : undefined;
  if (authority?.problem !== undefined) {
    return {
      reason: `the certificate of the authority in otlp.certificate ${authority.problem}: it is ${validity(authority)}`,
      remedy: "replace the file by the authority's new certificate",
    };
  }
  const isUntrusted = REASONS[code] === untrusted;
  return {
    reason: reasonOf(code || error.name, shown),
    ...(spokeTls(error, code) ? { remedy: ASK_OPERATOR } : remedyFor(code, url, over)),
    ...(isUntrusted && { isUntrusted }),
  };
}

/** `networkFailure` for a connection that ended without an error. @param reason includes the address as it is shown */
export const failureWithoutError = (reason: string, url: string, over: "http" | "grpc" = "http"): NetworkFailure => ({
  reason,
  ...remedyFor("", url, over),
});

/** A gRPC call to a server that knows only HTTP/1.1. */
export const notHttp2 = (url: string): NetworkFailure => ({
  reason: `${shownUrl(url)} responds in HTTP/1.1 only, and gRPC needs HTTP/2`,
  remedy: USE_GRPC_PORT,
});

// --- internal ---

type ReasonText = (url: string) => string;

const BROKEN: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** The number of the TLS alert with which a server ended the handshake. OpenSSL has it in the text. */
function alertIn({ message }: Error): number | undefined {
  const number = /SSL alert number (\d+)/.exec(message)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** What servers say about the certificate of a client: RFC 8446, 6.2. */
const REFUSALS: Readonly<Record<number, string>> = {
  42: "it was not accepted",
  43: "it is of a kind that the server does not support",
  44: "it was revoked",
  45: "it has expired by the server's clock",
  46: "it was not accepted",
  48: "the server does not know its authority",
  49: "it gives no access",
  51: "its key does not fit",
};
const IS_REQUIRED = "requires a client certificate";
/** What they say if there is none. Before TLS 1.3, 40 can be a failure of any other kind too. */
const MISSING: Readonly<Record<number, string>> = {
  40: "refused the TLS handshake: does it require a client certificate?",
  41: IS_REQUIRED,
  42: IS_REQUIRED,
  49: IS_REQUIRED,
  116: IS_REQUIRED,
};

const ASK_OPERATOR = "the server uses TLS but ends the handshake: correct otlp.endpoint, or ask the backend's operator";

function failureByAlert(alert: number, shown: string, tls: TlsFiles): NetworkFailure {
  const client = certificateIn(tls.cert);
  if (client === undefined) {
    const why = MISSING[alert];
    if (why !== undefined) return { reason: `${shown} ${why}`, remedy: IDENTIFY };
  } else {
    // Some servers send another alert for a certificate that has expired
    const why = client.problem === undefined ? REFUSALS[alert] : `it ${client.problem}`;
    const reason = `${shown} refused the client certificate: ${why} (TLS alert ${alert})`;
    if (why !== undefined) return { reason, remedy: renewal(client) };
  }
  return { reason: `${shown} refused the TLS handshake (TLS alert ${alert})`, remedy: ASK_OPERATOR };
}

const certificateIn = (pem: TlsFiles["ca"]): CertificateFact | undefined =>
  typeof pem === "string" ? certificatesIn(pem)[0] : undefined;

const renewal = (client: CertificateFact): string =>
  client.problem === undefined
    ? `set otlp.clientCertificate to one that the backend accepts: it is ${validity(client)} and signed by ${client.issuer}`
    : `renew otlp.clientCertificate, or check this machine's clock: it is ${validity(client)}`;

/** Whether OpenSSL understood the peer's records, so that the peer has TLS. Only texts of OpenSSL show that under EPROTO. */
const spokeTls = ({ message }: Error, code: string): boolean =>
  code === "EPROTO" &&
  /:SSL routines:/.test(message) &&
  !/wrong version number|packet length too long|record too small|unexpected (?:eof|message)|http request/i.test(
    message,
  );

function reasonOf(code: string, shown: string): string {
  const known = REASONS[code];
  if (known !== undefined) return known(shown);
  const family = FAMILIES.find(([codes]) => codes.test(code))?.[1];
  return `${family === undefined ? `cannot reach ${shown}` : family(shown)} (${code})`;
}

/** The server supports HTTP/2 only, and reports that in the TLS handshake. */
const NO_COMMON_PROTOCOL = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL";

/** Whether the bytes that Node could not parse are an HTTP/2 SETTINGS frame, the first that a server sends. */
function isHttp2(error: Error): boolean {
  const bytes = "rawPacket" in error && error.rawPacket instanceof Uint8Array ? error.rawPacket : undefined;
  // Length (3 bytes, a multiple of 6), type 4, flags, stream 0
  return bytes !== undefined && bytes.length >= 9 && bytes[0] === 0 && bytes[3] === 4 && (bytes[2] ?? 1) % 6 === 0;
}

const USE_HTTP_PORT =
  "set otlp.protocol to grpc, or otlp.endpoint to the receiver's address for HTTP, usually with port 4318";

const USE_GRPC_PORT =
  "set otlp.protocol to http/protobuf, or otlp.endpoint to the receiver's address for gRPC, usually with port 4317";

function remedyFor(code: string, url: string, over: "http" | "grpc"): Pick<NetworkFailure, "remedy"> {
  const port = URL.canParse(url) ? new URL(url).port : "";
  // Receivers of one protocol close connections of the other in different ways
  const wrongPort = over === "http" ? WRONG_PORTS.http : WRONG_PORTS.grpc;
  const remedy = REMEDIES.get(code) ?? (port === wrongPort.port ? wrongPort.remedy : undefined);
  return remedy === undefined ? {} : { remedy };
}

const WRONG_PORTS = {
  http: { port: "4317", remedy: `port 4317 is usually for gRPC; ${USE_HTTP_PORT}` },
  grpc: { port: "4318", remedy: `port 4318 is usually for HTTP; ${USE_GRPC_PORT}` },
} as const;

const untrusted: ReasonText = (url) => `the certificate of ${url} is not signed by an authority known here`;

const notTls: ReasonText = (url) => `the TLS handshake with ${url} failed`;

const REASONS: Readonly<Record<string, ReasonText>> = {
  ECONNREFUSED: (url) => `connection refused by ${url}`,
  ECONNRESET: (url) => `connection broken by ${url}`,
  EPIPE: (url) => `connection broken by ${url}`,
  ENOTFOUND: (url) => `host name of ${url} not found`,
  EAI_AGAIN: (url) => `host name of ${url} cannot be looked up at the moment`,
  ETIMEDOUT: (url) => `no connection to ${url} in time`,
  EHOSTUNREACH: (url) => `host of ${url} unreachable`,
  ENETUNREACH: (url) => `network of ${url} unreachable`,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: (url) => `the certificate of ${url} has expired`,
  CERT_NOT_YET_VALID: (url) => `the certificate of ${url} is not valid yet: is the clock right?`,
  ERR_TLS_CERT_ALTNAME_INVALID: (url) => `the certificate of ${url} is for another host name`,
  // Node versions differ in how they interpret a plain HTTP response
  EPROTO: notTls,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
};

const TRUST =
  "set otlp.certificate to the PEM file of the authority, e.g. your company's, set NODE_EXTRA_CA_CERTS where agents are started, or add it to the system's authorities (Node 22.15 or later)";
const USE_HTTP = "if the backend has no TLS, begin otlp.endpoint with http://";
const IDENTIFY = "set otlp.clientCertificate and otlp.clientKey";

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", TRUST],
  ["SELF_SIGNED_CERT_IN_CHAIN", TRUST],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", TRUST],
  ["UNABLE_TO_GET_ISSUER_CERT", TRUST],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", TRUST],
  ["CERT_HAS_EXPIRED", "renew the backend's certificate, or check this machine's clock"],
  ["CERT_NOT_YET_VALID", "check this machine's clock"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "set otlp.endpoint to a host name in the certificate"],
  ["EPROTO", USE_HTTP],
  ["ERR_SSL_WRONG_VERSION_NUMBER", USE_HTTP],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", USE_HTTP],
]);

const FAMILIES: readonly (readonly [RegExp, ReasonText])[] = [
  [/^(?:CERT_|UNABLE_TO_)/, (url) => `the certificate of ${url} cannot be verified`],
  [/^(?:ERR_SSL_|ERR_TLS_)/, (url) => `the TLS handshake with ${url} failed`],
  [/^HPE_/, (url) => `${url} does not respond in HTTP/1.1`],
];
