import { describe, expect, test } from "vitest";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
import { failureWithoutError, networkFailure } from "#send/network/network-reason.ts";
import { shownUrl } from "#send/network/shown-url.ts";
import { withoutSecrets } from "#send/otlp/response.ts";
import fc from "../support/properties.ts";

const URL_SHOWN = "https://collector.example:4318/v1/traces";
const settings = (over: Partial<OtlpSignalSettings>): OtlpSignalSettings => ({
  url: URL_SHOWN,
  protocol: "http/protobuf",
  headers: {},
  compression: "none",
  timeoutMs: 1000,
  ...over,
});

test("an address is shown without credentials, query and fragment", () => {
  expect(shownUrl("https://dev:s3cret@collector.example:4318/v1/traces?key=s3cret#s3cret")).toBe(URL_SHOWN);
  expect(shownUrl("s3cret")).toBe("the OTLP address");
});

describe("network errors in plain words", () => {
  test.each([
    ["ECONNREFUSED", `connection refused by ${URL_SHOWN}`],
    ["ENOTFOUND", `host name of ${URL_SHOWN} not found`],
    ["ETIMEDOUT", `no connection to ${URL_SHOWN} in time`],
    ["CERT_HAS_EXPIRED", `the certificate of ${URL_SHOWN} has expired`],
    ["CERT_REVOKED", `the certificate of ${URL_SHOWN} cannot be verified (CERT_REVOKED)`],
    ["ERR_SSL_NO_CIPHER_MATCH", `the TLS handshake with ${URL_SHOWN} failed (ERR_SSL_NO_CIPHER_MATCH)`],
    ["HPE_INVALID_CONSTANT", `${URL_SHOWN} does not respond in HTTP/1.1 (HPE_INVALID_CONSTANT)`],
    ["EMFILE", `cannot reach ${URL_SHOWN} (EMFILE)`],
  ])("%s is explained, without credentials", (code, reason) => {
    const error = Object.assign(new Error("authorization: Bearer s3cret"), { code });
    const url = "https://dev:s3cret@collector.example:4318/v1/traces?key=s3cret";
    expect(networkFailure(error, url).reason).toBe(reason);
  });

  test("an error without a code is named by its class", () => {
    expect(networkFailure(new TypeError("s3cret"), URL_SHOWN)).toEqual({
      reason: `cannot reach ${URL_SHOWN} (TypeError)`,
    });
  });

  test.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", /otlp\.certificate .* NODE_EXTRA_CA_CERTS/],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", /otlp\.certificate .* NODE_EXTRA_CA_CERTS/],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", /otlp\.certificate/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", /http:\/\//],
    ["ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL", /otlp\.protocol to grpc, .*4318/],
  ])("the remedy of %s names the setting", (code, remedy) => {
    expect(networkFailure(Object.assign(new Error(), { code }), URL_SHOWN).remedy).toMatch(remedy);
  });

  test("an HTTP/2 frame is the answer of a gRPC receiver, other bytes are not", () => {
    const failure = (rawPacket: Buffer) =>
      networkFailure(Object.assign(new Error(), { code: "HPE_INVALID_CONSTANT", rawPacket }), URL_SHOWN);
    const settingsFrame = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 5, 0, 0, 64, 0]);
    expect(failure(settingsFrame)).toEqual({
      reason: expect.stringContaining("HTTP/2"),
      remedy: expect.stringMatching(/otlp\.protocol to grpc, .*4318/),
    });
    expect(failure(Buffer.from("SSH-2.0-OpenSSH_9.9\r\n"))).not.toHaveProperty("remedy");
  });

  test("if port 4317 does not answer, the remedy names the port for HTTP", () => {
    for (const code of ["ECONNRESET", "ECONNREFUSED"]) {
      const url = "http://collector.example:4317/v1/traces";
      expect(networkFailure(Object.assign(new Error(), { code }), url).remedy).toMatch(/4317 .*4318/);
    }
    expect(failureWithoutError("closed", "https://collector.example:4317/v1/traces").remedy).toMatch(/4318/);
    expect(failureWithoutError("closed", URL_SHOWN)).toEqual({ reason: "closed" });
  });
});

describe("secrets in a backend's message", () => {
  test("any header value is removed", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6 }), fc.string(), fc.string(), (value, before, after) => {
        const clean = withoutSecrets(`${before} ${value} ${after}`, settings({ headers: { "x-api-key": value } }));
        expect("*** ".repeat(3).includes(value.trim()) || !clean.includes(value)).toBe(true);
      }),
    );
  });

  test("short values are removed only as whole words", () => {
    expect(withoutSecrets("tenant 42 of 4242 (42)", settings({ headers: { "x-tenant": "42" } }))).toBe(
      "tenant *** of 4242 (***)",
    );
  });

  test("scheme names stay readable", () => {
    const headers = { authorization: "Bearer s3cret-token" };
    expect(withoutSecrets("Bearer s3cret-token is no Bearer token", settings({ headers }))).toBe(
      "*** is no Bearer token",
    );
  });

  test("credentials in the address, encoded or not, and in a Basic header are removed", () => {
    const basic = Buffer.from("admin:h3ader-pass").toString("base64");
    const url = "https://dev:pass%20word@collector.example/v1/traces?token=qu3ry-token";
    const ofUrl = Buffer.from("dev:pass word").toString("base64");
    const text = `pass%20word|pass word|${ofUrl}|qu3ry-token|h3ader-pass|${basic}`;
    expect(withoutSecrets(text, settings({ url, headers: { authorization: `Basic ${basic}` } }))).toBe(
      "***|***|***|***|***|***",
    );
  });

  test("a message without secrets stays unchanged", () => {
    expect(withoutSecrets("a (b) [c] *", settings({}))).toBe("a (b) [c] *");
  });
});
