/** Reads revisions from manifests: YAML text, or an uploaded zip archive, with one or several integrations. */
import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { type Entry, fromBufferPromise } from 'yauzl';
import { z } from 'zod';
import { getProject } from '../../../domain/access/scope.ts';
import { toIssues } from '../../../domain/base/issues.ts';
import {
  type DocumentResult,
  MANIFEST_LENGTH_MAX,
} from '../../../domain/integrations/integration/manifest/manifest-text.ts';
import {
  createTooLargeError,
  createUploadUrl,
  findUpload,
  openUpload,
  storeUpload,
  UPLOAD_BYTES_MAX,
  uploadUrlInput,
  uploadUrlResource,
} from '../../../domain/integrations/integration/manifest-upload.ts';
import {
  type DomainError,
  type Issue,
  invalid,
  invalidInput,
  moveIssues,
} from '../../../kernel/errors.ts';
import type { Path } from '../../../kernel/text.ts';
import { parseBounded } from '../../../work/bounded-parse.ts';
import type { Parts, RestRequest } from '../../endpoint/endpoint.ts';
import { getValue } from '../../endpoint/mask.ts';
import { readEndpoint } from '../../endpoint/resource-endpoints.ts';
import type { Gateway } from '../../endpoint/run-request.ts';
import { dropIgnoredMembers } from './ignored-members.ts';

/** Bounds the work of unpacking, because an archive may be crafted to exhaust the process. Manifests are far smaller. */
const UNPACKED_BYTES_MAX = 4 * 1024 * 1024;
const UNPACKED_FILES_MAX = 100;
const MANIFEST_NAMES = ['amp.yaml', 'amp.yml'];

export const manifestShape = {
  sourceYaml: z
    .string()
    .max(MANIFEST_LENGTH_MAX)
    .optional()
    .describe(
      'A manifest as YAML text, in place of the JSON members. A new revision takes its content from the integration with the same name, or from the only integration. At most 128 KiB, nested at most 32 levels deep. Manifests of one project that exceed 4 KiB are read one at a time.',
    ),
  sourceZipUrl: z
    .string()
    .optional()
    .describe(
      'Instead of sourceYaml: the URL that generate-upload-url returned for this project, after the file was uploaded. The file is a zip archive with `amp.yaml` or `amp.yml`. Unpacked, it has at most 4 MiB and 100 files.',
    ),
};

const manifest = z.object(
  {
    specVersion: z.string(),
    integrations: z.array(z.looseObject({ name: z.string() })).min(1),
  },
  'must have specVersion, and integrations with names.',
);

/** Sets `revision` to the manifest's integration. Throws BAD_USER_INPUT for a manifest without one. */
export async function rewriteRevision(parts: Parts, request: RestRequest): Promise<Parts> {
  const { source, body } = await readManifestSource(parts, request);
  if (!source) return dropIgnoredMembers(parts, ['revision', 'content'], request);
  if (body.revision !== undefined) {
    throw invalid([source.member], 'must not be combined with revision.');
  }
  const { specVersion, integrations } = await readManifest(source, request);
  const { integrationId: name } = parts.path as { integrationId: string };
  const isOnly = integrations.length === 1;
  const index = integrations.findIndex((integration) => isOnly || integration.name === name);
  if (index < 0) {
    throw invalid([source.member], `has several integrations, and none is named ${name}.`);
  }
  const content = integrations[index];
  request.locateError = createErrorLocator(request, source, ([member, part, ...inside]) => {
    if (member !== 'revision') return null;
    return part === 'content' ? ['integrations', index, ...inside] : [part ?? [], inside].flat();
  });
  const rewrittenParts = { ...parts, body: { ...body, revision: { specVersion, content } } };
  return dropIgnoredMembers(rewrittenParts, ['revision', 'content'], request);
}

/** Sets `integrations` to the manifest's integrations. Throws BAD_USER_INPUT for a manifest without any. */
export async function rewriteIntegrations(parts: Parts, request: RestRequest): Promise<Parts> {
  const { source, body } = await readManifestSource(parts, request);
  if (!source) return dropIgnoredMembers(parts, ['integrations'], request);
  if (body.integrations !== undefined) {
    throw invalid([source.member], 'must not be combined with integrations.');
  }
  const { specVersion, integrations } = await readManifest(source, request);
  request.locateError = createErrorLocator(request, source, (path) =>
    ['specVersion', 'integrations'].includes(String(path[0])) ? path : null,
  );
  const rewrittenParts = { ...parts, body: { ...body, specVersion, integrations } };
  return dropIgnoredMembers(rewrittenParts, ['integrations'], request);
}

interface ManifestSource {
  projectIdOrName: string;
  member: keyof typeof manifestShape;
  text: string;
}

/** Returns the text of the manifest. Null if there is none, or if it is not a string, which validation refuses. */
async function readManifestSource(
  { body, path }: Parts,
  { call }: RestRequest,
): Promise<{ source: ManifestSource | null; body: Record<string, unknown> }> {
  const { sourceYaml, sourceZipUrl, ...otherMembers } = (body ?? {}) as Record<string, unknown>;
  if (sourceYaml !== undefined && sourceZipUrl !== undefined) {
    throw invalid(['sourceZipUrl'], 'must not be combined with sourceYaml.');
  }
  const { projectIdOrName } = path as { projectIdOrName: string };
  if (typeof sourceYaml === 'string') {
    const source = { projectIdOrName, member: 'sourceYaml', text: sourceYaml } as const;
    return { source, body: otherMembers };
  }
  if (typeof sourceZipUrl !== 'string') return { source: null, body: otherMembers };
  const zip = await findUpload(call, projectIdOrName, sourceZipUrl);
  if (!zip) {
    const detail =
      'must be a URL that generate-upload-url returned for this project within the last hour, with the file uploaded.';
    throw invalid(['sourceZipUrl'], detail);
  }
  const result = await unpackManifest(zip);
  if ('problem' in result) throw invalid(['sourceZipUrl'], result.problem);
  const source = { projectIdOrName, member: 'sourceZipUrl', text: result.manifest } as const;
  return { source, body: otherMembers };
}

type UnpackResult = { manifest: string } | { problem: string };

/**
 * Unpacks only the manifest, in memory. No path of the archive is ever opened. yauzl refuses absolute paths and paths
 * outside the archive, and stops inflating at the size that the archive declares. `problem` is a sentence without its
 * subject.
 */
async function unpackManifest(zip: Uint8Array): Promise<UnpackResult> {
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
    const [manifest, otherManifest] = manifests;
    if (!manifest || otherManifest) {
      return { problem: `must have one file ${MANIFEST_NAMES.join(' or ')} at its top.` };
    }
    const content = await buffer(await archive.openReadStreamPromise(manifest));
    return isUtf8(content)
      ? { manifest: content.toString('utf8') }
      : { problem: 'must have a manifest in UTF-8.' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `is not a zip archive that can be read: ${reason}.` };
  }
}

/** Returns the content of the manifest. Throws BAD_USER_INPUT with the line and the column of every problem. */
async function readManifest(
  source: ManifestSource,
  request: RestRequest,
): Promise<z.output<typeof manifest>> {
  const result = await readText(source, request);
  const path = [source.member];
  if ('faults' in result) throw invalidInput(result.faults.map((fault) => ({ path, ...fault })));
  const { data, error } = parseBounded(manifest, result.value);
  if (data) return data;
  const locateError = createErrorLocator(request, source, (inside) => inside);
  throw await locateError(invalidInput(toIssues(error, result.value, manifest)));
}

/**
 * Throws NOT_FOUND for a project that the caller may not see. This is checked first, because manifests of one project
 * wait for each other, and other tenants must not cause such waits.
 */
async function readText(
  { projectIdOrName, text }: ManifestSource,
  { call }: RestRequest,
  paths: readonly PropertyKey[][] = [],
): Promise<DocumentResult> {
  const project = await getProject(call, projectIdOrName);
  return call.manifests.read(project.id, text, paths);
}

/**
 * Returns a function that moves the issues of an error to their lines and columns in the manifest. `find` returns the path
 * in the manifest for a path in the input, or null if the manifest does not have it.
 */
function createErrorLocator(
  request: RestRequest,
  source: ManifestSource,
  find: (path: Path) => Path | null,
) {
  const move = (path: Path) => {
    const pathInText = find(path);
    return pathInText ? [source.member, ...pathInText] : path;
  };
  return async (error: DomainError): Promise<DomainError> => {
    const { code, issues = [], extra } = error;
    const paths = issues.map(({ path }) => find(path)?.map(String) ?? null);
    if (code !== 'BAD_USER_INPUT' || paths.every((path) => path === null)) return error;
    const innerPaths = issues.map(({ path }) => [...(find(path) ?? [])]);
    // The text can't be read again if too many texts of the project wait. The problems then have no positions.
    const result = await readText(source, request, innerPaths).catch(() => null);
    const known = result && 'positions' in result ? result : { value: undefined, positions: [] };
    const movedIssues = moveIssues(issues, move).map((issue, index): Issue => {
      const path = paths[index];
      if (!path) return issue;
      const { value: _value, ...issueWithoutValue } = issue;
      // The value of the input may have another form than in the text.
      const value = issue.value === undefined ? undefined : getValue(known.value, path);
      return {
        ...issueWithoutValue,
        ...(value !== undefined && { value }),
        ...known.positions[index],
      };
    });
    return invalidInput(movedIssues, extra);
  };
}

export const uploadUrlEndpoint = readEndpoint({
  id: 'generateUploadUrl',
  path: '/generate-upload-url',
  tag: 'Integrations',
  description:
    'PUT the archive, of at most 1 MiB, to `url` within an hour. The URL accepts one file. Then pass `url`, or `gs://{bucket}/{path}`, as `sourceZipUrl`, within the same hour and in the same project. The manifest is `amp.yaml` or `amp.yml` at the top of the archive.',
  input: uploadUrlInput,
  locations: {
    md5: { in: 'query', name: 'md5' },
    projectIdOrName: { in: 'query', name: 'projectIdOrName' },
  },
  read: createUploadUrl,
  resource: uploadUrlResource,
});

/** The route requires no key, because the URL is the credential. The OpenAPI document omits it. */
export async function registerUpload(app: FastifyInstance, { services }: Gateway): Promise<void> {
  const toUploadPath = ({ params }: FastifyRequest) => {
    const { projectId, token } = params as { projectId: string; token: string };
    return `projects/${projectId}/manifest-uploads/${token}`;
  };
  // The route has its own context, because the other routes accept only JSON.
  await app.register(async (files) => {
    files.removeAllContentTypeParsers();
    files.addContentTypeParser(
      '*',
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
    files.setErrorHandler((error: { code?: string }) => {
      throw error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? createTooLargeError() : error;
    });
    files.route({
      method: 'PUT',
      url: '/projects/:projectId/manifest-uploads/:token',
      schema: { hide: true } as FastifySchema,
      bodyLimit: UPLOAD_BYTES_MAX,
      // Runs before the body is read, so that the gateway reads no file for an invalid URL.
      onRequest: async (request) => void openUpload(services, toUploadPath(request)),
      async handler(request, reply) {
        await storeUpload(
          services,
          toUploadPath(request),
          (request.body as Buffer) ?? Buffer.alloc(0),
        );
        return reply.code(200).send();
      },
    });
  });
}
