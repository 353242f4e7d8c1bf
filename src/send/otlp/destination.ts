import type { OtlpSignalSettings } from "#core/model/settings.ts";
import { type HttpProxy, proxyFor } from "../network/proxy.ts";
import { readTlsFiles, type TlsFiles } from "../network/tls-files.ts";
import { SendError } from "./transport-response.ts";

/** Where one signal goes, and how it is reached. */
export interface Destination {
  readonly url: URL;
  /** Empty without TLS. */
  readonly tls: TlsFiles;
  /** Absent for a direct connection. */
  readonly proxy?: HttpProxy;
}

/**
 * Reads where one signal goes from its settings, with the PEM files that they name.
 *
 * @param authorities to trust if the settings name none @default those that Node trusts
 * @throws SendError or TlsFileError that names the setting
 */
export async function readDestination(settings: OtlpSignalSettings, authorities?: string[]): Promise<Destination> {
  const url = URL.canParse(settings.url) ? new URL(settings.url) : undefined;
  // Do not quote the setting: it may contain a password
  if (url === undefined) throw new SendError("the OTLP address is not a URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new SendError(`the OTLP address begins with ${url.protocol}//, it must be http:// or https://`);
  }
  const files = url.protocol === "https:" ? await readTlsFiles(settings) : {};
  const tls = authorities === undefined || files.ca !== undefined ? files : { ...files, ca: authorities };
  const proxy = proxyFor(url, settings.proxy);
  return { url, tls, ...(proxy !== undefined && { proxy }) };
}
