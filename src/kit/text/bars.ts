/**
 * A bar of blocks, in steps of an eighth of a column.
 *
 * @param share 0 to 1 of the whole width; anything above 0 is visible
 */
export function bar(share: number, columns: number): string {
  if (!(share > 0) || columns < 1) return "";
  const eighths = Math.max(1, Math.round(Math.min(1, share) * columns * 8));
  return "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
}

// --- internal ---

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
