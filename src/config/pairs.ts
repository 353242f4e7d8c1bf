/**
 * Parses `name=value,name=value`, both percent-encoded, the format of `OTEL_EXPORTER_OTLP_HEADERS` and `OTEL_RESOURCE_ATTRIBUTES`. Only the
 * first `=` of a pair separates.
 *
 * @returns the readable pairs, in order, and the end of a sentence for each unreadable one; never a value
 * @see OpenTelemetry specification, configuration/sdk-environment-variables and protocol/exporter
 */
export function parsePairs(text: string): {
  readonly pairs: readonly (readonly [name: string, value: string])[];
  readonly problems: readonly string[];
} {
  const pairs: [string, string][] = [];
  const problems: string[] = [];
  for (const [i, part] of text.split(",").entries()) {
    if (part.trim() === "") continue;
    const equals = part.indexOf("=");
    const name = equals === -1 ? "" : decode(part.slice(0, equals).trim());
    const value = decode(part.slice(equals + 1).trim());
    if (name === undefined || value === undefined) {
      problems.push(`has an invalid % in part ${i + 1} (write %25)`);
    } else if (name === "") {
      problems.push(`has no name=value in part ${i + 1}`);
    } else {
      pairs.push([name, value]);
    }
  }
  return { pairs, problems };
}

// --- internal ---

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
