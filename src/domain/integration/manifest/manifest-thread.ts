/** The thread that parses large manifests. A text at the limits blocks this thread and not the process's requests. */
import { parentPort } from 'node:worker_threads';
import { readManifestText } from './manifest-text.ts';

parentPort?.on('message', (text: string) => parentPort?.postMessage(readManifestText(text)));
