/** Creates TLS certificates for test servers with openssl. Their keys are deleted. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl)
  console.warn('Tests that need certificates are skipped: openssl is not installed.');

export interface ServerCertificate {
  certificate: Buffer;
  key: Buffer;
}

/** Returns a self-signed certificate for one host name. */
export function createCertificate(name: string): ServerCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-certificate-'));
  const [keyPath, path] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subjectOptions = [
    '-subj',
    `/CN=${name}`,
    '-addext',
    `subjectAltName=DNS:${name}`,
    '-days',
    '2',
  ];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', keyPath, '-out', path];
  try {
    execFileSync('openssl', ['req', '-x509', ...newKey, ...subjectOptions, ...files], {
      stdio: 'pipe',
    });
    return { certificate: readFileSync(path), key: readFileSync(keyPath) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes new connections of this process trust the certificate until the returned function is called. */
export function trustCertificate({ certificate }: ServerCertificate): () => void {
  const defaultCertificates = getCACertificates('default');
  setDefaultCACertificates([...defaultCertificates, String(certificate)]);
  return () => setDefaultCACertificates(defaultCertificates);
}
