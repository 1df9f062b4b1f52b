/** The thread that parses large manifests: a text at the limits keeps it busy, and not the process's requests. */
import { parentPort } from 'node:worker_threads';
import { readManifestText } from './manifest-text.ts';

parentPort?.on('message', (text: string) => parentPort?.postMessage(readManifestText(text)));
