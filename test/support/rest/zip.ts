/** Builds zip archives as clients write them, and as attackers do. */
import { crc32, deflateRawSync } from 'node:zlib';

interface ZipEntry {
  name: string;
  text: string;
  /** The uncompressed size in the header. Default: the true size. */
  declaredBytes?: number;
  /** True to write the sizes after the content, as Go's library does. */
  isStreamed?: boolean;
}

/** Flag of a header whose sizes are in a data descriptor after the content. */
const HAS_DESCRIPTOR = 0x8;

export function buildZip(...files: ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, text, declaredBytes, isStreamed = false } of files) {
    const data = Buffer.from(text);
    const packed = deflateRawSync(data);
    const sizes = [u32(crc32(data)), u32(packed.length), u32(declaredBytes ?? data.length)];
    const fields = encodeHeaderFields(name, sizes, isStreamed);
    const localFields = isStreamed
      ? encodeHeaderFields(name, [u32(0), u32(0), u32(0)], true)
      : fields;
    const descriptor = isStreamed ? [u32(0x08074b50), ...sizes] : [];
    const header = [u32(0x04034b50), localFields, Buffer.from(name)];
    const local = Buffer.concat([...header, packed, ...descriptor]);
    const centralRecord = Buffer.concat([u16(0), u16(0), u16(0), u32(0), u32(offset)]);
    central.push(
      Buffer.concat([u32(0x02014b50), u16(20), fields, centralRecord, Buffer.from(name)]),
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const counts = Buffer.concat([u16(0), u16(0), u16(files.length), u16(files.length)]);
  const end = [u32(0x06054b50), counts, u32(directory.length), u32(offset), u16(0)];
  return Buffer.concat([...locals, directory, ...end]);
}

/**
 * Returns the fields that local and central headers share, from the version to the length of the extra field.
 */
function encodeHeaderFields(name: string, sizes: Buffer[], isStreamed: boolean): Buffer {
  const deflated = [u16(20), u16(isStreamed ? HAS_DESCRIPTOR : 0), u16(8), u32(0)];
  return Buffer.concat([...deflated, ...sizes, u16(Buffer.byteLength(name)), u16(0)]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
