/** Uploads of zip archives with a manifest: the endpoint that creates a URL, and the route that receives the file. */
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import {
  createTooLargeError,
  createUploadUrl,
  openUpload,
  storeUpload,
  UPLOAD_BYTES_MAX,
  uploadUrlInput,
  uploadUrlResource,
} from '../../domain/integration/manifest-upload.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import type { Gateway } from '../endpoint/run-request.ts';

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
