/** The manifest in a zip archive, which may be crafted to exhaust the process. */
import { text } from 'node:stream/consumers';
import { type Entry, fromBufferPromise } from 'yauzl';

/** Far above any manifest; bounds the work of reading one archive. */
const UNPACKED_BYTES_MAX = 4 * 1024 * 1024;
const UNPACKED_FILES_MAX = 100;
const MANIFEST_NAMES = ['amp.yaml', 'amp.yml'];

export type Unpacked = { manifest: string } | { problem: string };

/**
 * Unpacks the manifest alone, in memory: no path of the archive is ever opened. yauzl refuses absolute paths and paths
 * outside the archive, and stops inflating at the size that the archive declares. `problem` is a sentence without its
 * subject.
 */
export async function unpackManifest(zip: Uint8Array): Promise<Unpacked> {
  try {
    const archive = await fromBufferPromise(Buffer.from(zip), { lazyEntries: true });
    if (archive.entryCount > UNPACKED_FILES_MAX) {
      return { problem: `must have at most ${UNPACKED_FILES_MAX} files.` };
    }
    const manifests: Entry[] = [];
    let bytes = 0;
    for await (const entry of archive.eachEntry()) {
      bytes += entry.uncompressedSize;
      if (MANIFEST_NAMES.includes(entry.fileName)) manifests.push(entry);
    }
    if (bytes > UNPACKED_BYTES_MAX) {
      return { problem: `must have at most ${UNPACKED_BYTES_MAX} bytes when it is unpacked.` };
    }
    const [manifest, another] = manifests;
    if (!manifest || another) {
      return { problem: `must have one file ${MANIFEST_NAMES.join(' or ')} at its top.` };
    }
    return { manifest: await text(await archive.openReadStreamPromise(manifest)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `is not a zip archive that can be read: ${reason}.` };
  }
}
