import { shownUrl } from "./shown-url.ts";

/**
 * Why there was no response, in plain words, e.g. "connection refused by http://127.0.0.1:4318/v1/traces". Derived from the error's code
 * only; its text is not passed on.
 *
 * @param url the full address; shown without credentials
 */
export function networkReason(error: Error, url: string): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const shown = shownUrl(url);
  const known = REASONS[code];
  if (known !== undefined) return known(shown);
  const family = FAMILIES.find(([codes]) => codes.test(code))?.[1];
  return `${family === undefined ? `cannot reach ${shown}` : family(shown)} (${code || error.name})`;
}

// --- internal ---

type Say = (url: string) => string;

const untrusted: Say = (url) =>
  `the certificate of ${url} is not signed by an authority known here: set the authority's certificate file`;

const notTls: Say = (url) => `the TLS handshake with ${url} failed: is it an http:// address?`;

const REASONS: Readonly<Record<string, Say>> = {
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
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: (url) =>
    `${url} asks for a client certificate: set the client certificate and key files`,
  // Older TLS versions have no separate error for a missing client certificate
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: (url) =>
    `${url} refused the TLS handshake: does it ask for a client certificate?`,
};

const FAMILIES: readonly (readonly [RegExp, Say])[] = [
  [/^(?:CERT_|UNABLE_TO_)/, (url) => `the certificate of ${url} cannot be verified`],
  [/^(?:ERR_SSL_|ERR_TLS_)/, (url) => `the TLS handshake with ${url} failed`],
  [/^HPE_/, (url) => `${url} does not answer in HTTP`],
];
