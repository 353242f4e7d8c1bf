/** A 48-bit digest of a record's id. Different digests mean different records. If digests are equal, the ids are compared. */
export const digestOf = (source: string, globalKey: string): number => digester(source)(globalKey);

/** `digestOf` for many ids of one source. */
export function digester(source: string): (globalKey: string) => number {
  // Two multiplicative hashes, each over the UTF-16 units of the text
  let sourceHigh = 0x9e3779b9;
  let sourceLow = 0x85ebca6b;
  for (let i = 0; i < source.length; i++) {
    const unit = source.charCodeAt(i);
    sourceHigh = Math.imul(sourceHigh ^ unit, 0x9e3779b1);
    sourceLow = Math.imul(sourceLow ^ unit, 0x5f356495);
  }
  sourceHigh ^= SEPARATOR;
  return (globalKey) => {
    let high = sourceHigh;
    let low = sourceLow;
    for (let i = 0; i < globalKey.length; i++) {
      const unit = globalKey.charCodeAt(i);
      high = Math.imul(high ^ unit, 0x9e3779b1);
      low = Math.imul(low ^ unit, 0x5f356495);
    }
    high ^= SEPARATOR;
    high = Math.imul(high ^ (high >>> 16), 0x85ebca77) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae3d);
    low = Math.imul(low ^ (low >>> 16), 0x85ebca77) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae3d);
    return (high >>> 16) * 0x1_0000_0000 + (low >>> 0);
  };
}

// --- internal ---

const SEPARATOR = 0xff51;
