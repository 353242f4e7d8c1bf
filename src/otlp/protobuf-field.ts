/** A field of a protobuf message that has a length: a text, bytes or another message. @param number at most 15 */
export function protobufField(number: number, content: Uint8Array): Uint8Array {
  const length: number[] = [];
  let rest = content.length;
  while (rest > 0x7f) {
    length.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.concat([Uint8Array.of((number << 3) | 2, ...length, rest), content]);
}
