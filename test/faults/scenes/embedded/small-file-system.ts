/** A disk that is soon full. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A file system of so many bytes, in memory. */
export function smallFileSystem(bytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** Why there can be none; null if there can. */
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

/** Takes all the room that is left; what is returned gives it back. */
export function fillUp(folder: string): () => void {
  const file = join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(file, Buffer.alloc(bavail * bsize));
  return () => rmSync(file);
}
