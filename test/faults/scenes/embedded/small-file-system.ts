/** Small file systems, for tests of full disks. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Mounts a file system in memory with this size. Returns its folder. */
export function smallFileSystem(bytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** Returns the reason why none can be mounted, or null. */
export function noSmallFileSystem(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=65536', 'tmpfs', folder], { stdio: 'pipe' });
    execFileSync('umount', [folder]);
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fills the file system. The returned function frees the space. */
export function fillUp(folder: string): () => void {
  const file = join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(file, Buffer.alloc(bavail * bsize));
  return () => rmSync(file);
}
