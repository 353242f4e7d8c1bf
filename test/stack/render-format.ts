/** A number in a unit, similar to Grafana: close enough to see whether unit and magnitude are right. */
export function formatted(value: number, unit: string, decimals?: number): string {
  if (!Number.isFinite(value)) return "–";
  const fixed = (n: number, most: number): string =>
    n.toLocaleString("en-US", { minimumFractionDigits: decimals ?? 0, maximumFractionDigits: decimals ?? most });
  switch (unit) {
    case "currencyUSD":
      return `$${fixed(value, 3)}`;
    case "percentunit":
      return `${fixed(value * 100, 1)}%`;
    case "s":
      return seconds(value, fixed);
    case "bytes":
      return scaled(value, 1024, ["B", "KiB", "MiB", "GiB"], fixed);
    case "short":
      return scaled(value, 1000, ["", " K", " Mil", " Bil"], fixed);
    default:
      return fixed(value, 2);
  }
}

// --- internal ---

type Fixed = (n: number, most: number) => string;

function scaled(value: number, base: number, words: readonly string[], fixed: Fixed): string {
  const power = Math.min(words.length - 1, Math.max(0, Math.floor(Math.log(Math.abs(value) || 1) / Math.log(base))));
  return `${fixed(value / base ** power, 2)}${words[power] ?? ""}`;
}

function seconds(value: number, fixed: Fixed): string {
  const size = Math.abs(value);
  if (size < 1) return `${fixed(value * 1000, 1)} ms`;
  if (size < 60) return `${fixed(value, 1)} s`;
  if (size < 3600) return `${fixed(value / 60, 1)} min`;
  return size < 86_400 ? `${fixed(value / 3600, 1)} hours` : `${fixed(value / 86_400, 1)} days`;
}
