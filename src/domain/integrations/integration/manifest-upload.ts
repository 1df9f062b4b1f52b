/**
 * Stores uploaded manifests. An upload URL contains the sealed metadata of its upload, so nothing is stored until the
 * file arrives. Files are rows of the database, so that every process can read them.
 */
import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isForeignKeyViolation } from '../../../database/connect/violations.ts';
import { DomainError, forbidden, notFound, rateLimited } from '../../../kernel/errors.ts';
import type { SealedLocation } from '../../../kernel/secrets.ts';
import { HOUR_MS, SECOND_MS } from '../../../work/durations.ts';
import type { Call, CoreServices, ProviderServices, Services } from '../../access/call.ts';
import { projectRead } from '../../access/declared-read.ts';
import { requireUnique } from '../../access/row-changes.ts';
import { getProject } from '../../access/scope.ts';
import { projectIdOrName } from '../../base/names.ts';
import { resource } from '../../base/resource.ts';

/** Far above the compressed size of the largest manifest, which has 128 KiB of text. */
export const UPLOAD_BYTES_MAX = 1024 * 1024;
const UPLOAD_LIFETIME_MS = HOUR_MS;
/** Limits the space that a project's uploads use in the database. */
const UPLOADS_MAX = 20;

/** The bucket in `gs://{bucket}/{path}`, the address of an uploaded file for clients of the reference API. */
const BUCKET = 'gateway';
const UPLOAD_PATH = /^projects\/(prj_[0-9a-z]{26})\/manifest-uploads\/([\w.-]{1,1024})$/;

export const uploadUrlInput = z.object({
  md5: z
    .string()
    .refine(
      (text) => Buffer.from(text, 'base64').toString('base64') === text && text.length === 24,
      {
        error: 'must be an MD5 checksum of 16 bytes in base64.',
      },
    )
    .optional()
    .describe(
      'The MD5 checksum of the file in base64, as in Content-MD5. A file with another checksum is refused. Default: the checksum is not checked.',
    ),
  projectIdOrName: projectIdOrName.describe(
    'The id or the name of the project that the file is for. Default: the only project of the caller.',
  ),
});

export const uploadUrlResource = resource('SignedUrl', 'A URL to upload a file to.', {
  url: z
    .string()
    .describe(
      'The URL to PUT the file to, without further credentials. It is also a `sourceZipUrl`.',
    ),
  bucket: z.string().describe('The first part of `gs://{bucket}/{path}`, another `sourceZipUrl`.'),
  path: z.string().describe('The second part of `gs://{bucket}/{path}`.'),
});

type UploadUrl = z.output<typeof uploadUrlResource>;

/** The content of an upload URL's token. The token is bound to the project in the URL's path. */
interface Upload {
  projectId: string;
  id: string;
  expireTime: Date;
  md5: string | null;
}

/** Creates an upload URL for the caller's project. It accepts one file within an hour. */
export const createUploadUrl = projectRead(
  'integrations:write',
  'Gets a URL to upload a zip archive with a manifest to.',
  (call, { md5 }: z.output<typeof uploadUrlInput>, { id: projectId }): UploadUrl => {
    const expireMs = call.now().getTime() + UPLOAD_LIFETIME_MS;
    const text = JSON.stringify([randomUUID(), expireMs, md5 ?? null]);
    const token = call.vault.seal(text, getTokenLocation(projectId));
    const path = `projects/${projectId}/manifest-uploads/${token}`;
    return { url: toUrl(call, path), bucket: BUCKET, path };
  },
);

/** Throws FORBIDDEN if the gateway did not issue the path, or if it has expired. */
export function openUpload({ vault, now }: CoreServices, path: string): Upload {
  const upload = openToken(vault, path);
  if (!upload || upload.expireTime <= now()) {
    throw forbidden('The upload URL is not valid or has expired. Generate a new one.');
  }
  return upload;
}

/** Stores the file of an upload URL. Throws CONFLICT if the URL was used before. */
export async function storeUpload(
  services: CoreServices,
  path: string,
  file: Buffer,
): Promise<void> {
  const { md5, ...upload } = openUpload(services, path);
  if (md5 !== null && hash('md5', file, 'base64') !== md5) {
    throw new DomainError('BAD_USER_INPUT', 'The file does not have the MD5 checksum of the URL.');
  }
  const { manifestUpload } = services.database.prisma;
  const { projectId } = upload;
  const where = { projectId, expireTime: { gt: services.now() } };
  if ((await manifestUpload.count({ where })) >= UPLOADS_MAX) {
    throw rateLimited(
      `The project has ${UPLOADS_MAX} uploads that have not expired. Try again after Retry-After.`,
      UPLOAD_LIFETIME_MS / SECOND_MS,
    );
  }
  const content = new Uint8Array(file);
  try {
    await requireUnique(
      manifestUpload.create({ data: { ...upload, content } }),
      'The upload URL was used before. Generate a new one.',
    );
  } catch (error) {
    if (isForeignKeyViolation(error)) throw notFound('Project', projectId);
    throw error;
  }
}

/** Finds the project's uploaded file by its address. Null if there is none or if it has expired. */
export async function findUpload(
  call: Call,
  idOrName: string,
  address: string,
): Promise<Uint8Array | null> {
  const { id: projectId } = await getProject(call, idOrName);
  const prefixes = [toUrl(call, ''), `gs://${BUCKET}/`];
  const prefix = prefixes.find((candidate) => address.startsWith(candidate));
  const upload = prefix === undefined ? null : openToken(call.vault, address.slice(prefix.length));
  if (upload?.projectId !== projectId) return null;
  const row = await call.database.prisma.manifestUpload.findUnique({
    where: { projectId_id: { projectId, id: upload.id }, expireTime: { gt: call.now() } },
  });
  return row?.content ?? null;
}

function openToken(vault: ProviderServices['vault'], path: string): Upload | null {
  const [, projectId, token] = UPLOAD_PATH.exec(path) ?? [];
  if (projectId === undefined || token === undefined) return null;
  try {
    const [id, expireMs, md5] = JSON.parse(vault.open(token, getTokenLocation(projectId)));
    return { projectId, id, expireTime: new Date(expireMs), md5 };
  } catch {
    return null;
  }
}

function getTokenLocation(projectId: string): SealedLocation {
  return { table: 'ManifestUpload', column: 'token', row: '', projectId };
}

function toUrl({ publicUrl }: Pick<Services, 'publicUrl'>, path: string): string {
  return `${publicUrl()}/v1/${path}`;
}

/** Creates the error for a file that is too large. The router throws it before it reads the whole file. */
export function createTooLargeError(): DomainError {
  return new DomainError('CONTENT_TOO_LARGE', `The file is larger than ${UPLOAD_BYTES_MAX} bytes.`);
}
