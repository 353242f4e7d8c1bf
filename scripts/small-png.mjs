import { crc32, deflateSync } from "node:zlib";

/** The most colours that a palette can have. */
const COLOURS = 256;
/** Colours that are nearer to one another look the same. */
const DISTANCE = 75;

/**
 * A PNG with a palette, about a third of a screenshot's size. Colours that are not among the most frequent ones, which are
 * edges of letters, become the most similar of these.
 *
 * @param {Buffer} png
 * @param {import("playwright-core").Page} page decodes the picture
 * @returns {Promise<Buffer>}
 */
export async function smallPng(png, page) {
  const { width, height, base64 } = await page.evaluate(pixelsOf, png.toString("base64"));
  const pixels = Buffer.from(base64, "base64");
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += 4) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [];
  for (const colour of [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a))) {
    if (palette.length === COLOURS) break;
    if (palette.every((one) => distance(one, colour) >= DISTANCE)) palette.push(colour);
  }
  const indexes = new Map(palette.map((colour, i) => [colour, i]));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const colour = pixels.readUIntBE(at, 3);
      if (!indexes.has(colour)) indexes.set(colour, mostSimilar(palette, colour));
      rows[y * (width + 1) + 1 + x] = indexes.get(colour);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits, palette
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.concat(palette.map((colour) => Buffer.from(channelsOf(colour))))),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Runs in the browser. */
async function pixelsOf(source) {
  const bytes = Uint8Array.from(atob(source), (c) => c.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let text = "";
  for (let at = 0; at < data.length; at += 32_768) text += String.fromCharCode(...data.subarray(at, at + 32_768));
  return { width: image.width, height: image.height, base64: btoa(text) };
}

const channelsOf = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];

const distance = (a, b) => channelsOf(a).reduce((sum, value, i) => sum + (value - channelsOf(b)[i]) ** 2, 0);

function mostSimilar(palette, colour) {
  const distances = palette.map((one) => distance(one, colour));
  return distances.indexOf(Math.min(...distances));
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type), data]);
  const chunk = Buffer.alloc(named.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  named.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(named), named.length + 4);
  return chunk;
}
