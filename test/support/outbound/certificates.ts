/** Certificates of servers for tests of TLS, made by openssl: the keys of none are kept. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) console.warn('What needs certificates is left out: there is no openssl.');

export interface ServerCertificate {
  certificate: Buffer;
  key: Buffer;
}

/** Signed by itself, for one name. */
export function certificateFor(name: string): ServerCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-certificate-'));
  const [keyPath, path] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const of = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-days', '2'];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', keyPath, '-out', path];
  try {
    execFileSync('openssl', ['req', '-x509', ...newKey, ...of, ...files], { stdio: 'pipe' });
    return { certificate: readFileSync(path), key: readFileSync(keyPath) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** By every connection of this process that begins before the answer is called. */
export function trust({ certificate }: ServerCertificate): () => void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, String(certificate)]);
  return () => setDefaultCACertificates(before);
}
